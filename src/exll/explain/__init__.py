"""Explanations of answers, made of the samples that the model learned from."""
