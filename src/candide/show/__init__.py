"""What people look at: explanations, pictures and the report, as text, HTML and SVG."""
