"""The studio: teach, ask, see why and correct in the browser. ``exll studio`` serves it.

The modules, from the disk to the browser::

    schema, store, edits             rows in SQLite (WAL): examples, images, steps that can be undone
    pictures, checkpoints            files: images by content hash, thumbnails, saved models
    model, live                      the model in memory: one writer, answers at any time, rebuilt from the rows
    analysed_image, recent_images    from the bytes of a file to a vector; images asked about a moment ago
    thread_pool, events              threads with bounded queues; events for open pages
    project                          all of the above, opened and closed together
    actions, class_names             what a person does to a project: teach, correct, relabel, undo
    archive, zip_folders             images in and out as zips, with a folder per class
    guards, tokens, limits           who may ask, how much, how often
    errors, error_responses          what can go wrong, and how it is said in JSON
    routes, app, serving             the JSON API and the pages, and the server around them

The idea behind "nothing is lost": an example is a row with a number, a label and a vector, committed before anybody is
told. The model is the replay of the rows that are not deleted, in the order of their numbers, one at a time. Teaching
appends a row and a step. Whatever else changes rows (undo, relabel, delete, rename, merge) gives the rows a new
*generation*: the model is replayed in the background, while the old one answers and goes on learning, and takes its
place when it has caught up.
"""
