/**
 * Room on the disk that no other program can take: a file of it, given up when not even a command can be written any more, so
 * that an agent can be stopped whoever filled the disk. Made anew once there is room again.
 */
import { randomFillSync } from 'node:crypto';
import { closeSync, fsyncSync, openSync, rmSync, statSync, writeSync } from 'node:fs';

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
    this.#isThere = bytes > 0 && statSync(path, { throwIfNoEntry: false })?.size === bytes;
  }

  get isMissing(): boolean {
    return this.bytes > 0 && !this.#isThere && !this.#isImpossible;
  }

  /** Takes milliseconds; to be asked where it is missing and there is room. Never throws. */
  make(): void {
    try {
      // Nothing that a file system could compress, or leave out as a hole.
      const piece = randomFillSync(Buffer.alloc(Math.min(PIECE_BYTES, this.bytes)));
      const file = openSync(this.#path, 'w', FILE_MODE);
      try {
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
