"""Pictures, drawn by matplotlib, which is an extra package and imported only when something is drawn."""
