"""Whether the commands of a shell block exist: in the system, in the project, or in its build."""
import os
import re
import shlex
import shutil

# What a reader installs; the system that runs the tests need not have it.
INSTALLED_BY_READERS = (
    "apt-get", "clinfo", "doxygen", "git", "oclgrind", "pip", "pkg-config", "sudo")
BUILT_IN = ("cd", "export", "set", "source", "test")
SEPARATORS = ("|", "||", "&&", ";", "&", "(", ")")


def _commands(text):
    """The first word of each command."""
    for line in text.replace("\\\n", " ").splitlines():
        lexer = shlex.shlex(line, posix=True, punctuation_chars="();|&<>")
        lexer.whitespace_split = True
        begins = True
        for word in lexer:
            if word in SEPARATORS:
                begins = True
            elif begins and not re.match(r"\w+=", word):
                begins = False
                yield word


def _exists(word, root, programs, files):
    name = os.path.basename(word)
    if re.match(r"(build|bin|prefix)/", word) and "/bin/" in f"/{word}":
        return name in programs
    if "/" in word:  # of the project, or made by a command of the document from one of its files
        made = [os.path.splitext(file)[0] for file in files]
        return (root / word).is_file() or (word.startswith("./") and name in made)
    return name in (*programs, *BUILT_IN, *INSTALLED_BY_READERS) or shutil.which(word) is not None


def check_commands(text, root, programs, files):
    """A sentence on the first command that does not exist; None if all do."""
    for word in _commands(text):
        if not _exists(word, root, programs, files):
            return f"there is no command {word}, neither in the system nor in the project"
    return None
