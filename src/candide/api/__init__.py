"""The faces in Python: NaiveBayes, the drop-ins for scikit-learn, and the verbs."""
