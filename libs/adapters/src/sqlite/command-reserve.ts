/**
 * Room on the disk that no other program can take: a file of it, given up when not even a command can be written any more, so
 * that an agent can be stopped whoever filled the disk. Made anew once there is room again.
 */
import { randomFillSync } from 'node:crypto';
import { closeSync, fsyncSync, lstatSync, openSync, rmSync, writeSync } from 'node:fs';

const PIECE_BYTES = 1024 * 1024;
const FILE_MODE = 0o600;

export class CommandReserve {
  readonly bytes: number;
  readonly #path: string;
  #isThere: boolean;
  /** Making it failed though there seemed to be room, such as under a quota: no use in trying with every write. */
  #isImpossible = false;

  /** @param bytes 0: there is none */
  constructor(path: string, bytes: number) {
    this.#path = path;
    this.bytes = bytes;
    const found = bytes > 0 ? lstatSync(path, { throwIfNoEntry: false }) : undefined;
    this.#isThere = found?.isFile() === true && found.size === bytes;
  }

  get isMissing(): boolean {
    return this.bytes > 0 && !this.#isThere;
  }

  /** While it is missing. Takes milliseconds where there is room. Never throws. */
  keep(hasRoom: boolean): void {
    if (!hasRoom) this.#isImpossible = false;
    else if (!this.#isImpossible) this.#make();
  }

  #make(): void {
    try {
      // Nothing is written to where a link leads, nor waited for at a pipe.
      rmSync(this.#path, { force: true });
      const file = openSync(this.#path, 'wx', FILE_MODE);
      try {
        // Nothing that a file system could compress, or leave out as a hole.
        const piece = randomFillSync(Buffer.alloc(Math.min(PIECE_BYTES, this.bytes)));
        for (let written = 0; written < this.bytes; )
          written += writeSync(file, piece, 0, Math.min(piece.length, this.bytes - written));
        fsyncSync(file);
      } finally {
        closeSync(file);
      }
      this.#isThere = true;
    } catch {
      this.#isImpossible = true;
      this.release();
    }
  }

  /** @returns whether its room is free now */
  release(): boolean {
    const wasThere = this.#isThere;
    this.#isThere = false;
    try {
      rmSync(this.#path, { force: true });
      return wasThere;
    } catch {
      return false;
    }
  }
}
