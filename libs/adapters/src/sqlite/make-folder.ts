/** The folder of the database, made with those above it that are missing. */
import { mkdirSync, type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** Only who runs the server may look into it. */
const FOLDER_MODE = 0o700;

/**
 * Level by level: `recursive` of Node never comes back where a folder that exists says "no such file", as /proc does.
 *
 * @throws Error in words, or of the system, if it is not there afterwards
 */
export function makeFolder(path: string): void {
  const found = look(path);
  if (found?.isDirectory()) return;
  if (found !== undefined)
    throw new Error(`${path} is a file, where a folder is needed; choose another place`);
  makeFolder(dirname(path));
  try {
    mkdirSync(path, { mode: FOLDER_MODE });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    // Somebody else made it in this moment; or it is a link.
    if (look(path)?.isDirectory()) return;
    throw new Error(
      `${path} is a link to a place that does not exist; make that folder, or choose another place`,
    );
  }
}

/** Undefined where nothing is, also below a file: some versions of Node throw there. */
function look(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return undefined;
    throw error;
  }
}
