"""Why: rules made of the samples the model learned from."""
