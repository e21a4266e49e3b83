"""The studio: teach, ask, see why and correct in the browser. ``exll studio`` serves it.

The rooms, from the disk to the browser::

    schema, pictures, store     one project's folder: rows in SQLite (WAL), images by content hash, thumbnails
    snapshots, live             the model in memory: one writer, answers at any time, rebuilt from what is stored
    seeing, asked               from the bytes of a file to a vector; images asked about a moment ago
    work, events                bounded threads; news for open pages
    project                     all of the above, opened and closed together
    guards, tokens, limits      who may ask, how much, how often
    routes, app, serving        the JSON API and the pages, and the server around them

The idea behind "nothing is lost": an example is a row with a number, a label and a vector, committed before anybody is
told. The model is the replay of the rows that are not deleted, in the order of their numbers, one at a time. Teaching
appends a row and a step. Whatever else changes rows (undo, relabel, delete, rename, merge) gives the rows a new
*generation*: the model is replayed in the background, while the old one answers and goes on learning, and takes its
place when it has caught up.
"""
