"""From images to vectors."""
