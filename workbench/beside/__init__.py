"""Files that the program keeps beside data or makes on its way: opened, written whole, and swept when left over.

All of them are plain files of one's own. What somebody else may have put in their place (a link, a pipe, a device, a
file of another user) is neither read nor written.
"""
