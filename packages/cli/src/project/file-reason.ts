/** What the system says about a file, in sentences for people. */

/** Why the system does not let a file be read, in a sentence. */
export function reasonFor(error: NodeJS.ErrnoException): string {
  switch (error.code) {
    case 'ENOENT':
      return 'There is no such file or directory.';
    case 'EACCES':
    case 'EPERM':
      return 'The system does not permit it: look at the permissions of the file and of its directories.';
    case 'EISDIR':
      return 'It is a directory.';
    case 'ENOTDIR':
      return 'A part of its path is a file, not a directory.';
    case 'ELOOP':
      return 'Its symbolic links lead in a circle.';
    case 'ENAMETOOLONG':
      return 'The name is longer than the system allows.';
    case 'EMFILE':
    case 'ENFILE':
      return 'Too many files are open; raise the limit (ulimit -n) or close some.';
    default:
      return `The system says: ${error.message}.`;
  }
}
