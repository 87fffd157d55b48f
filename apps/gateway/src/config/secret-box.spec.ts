import { execFileSync } from 'node:child_process';
import { chmodSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { temporaryFolder } from '#testing/temporary-folder';
import { openSecretBox } from './secret-box.js';

let folder: string;
beforeEach(() => {
  folder = temporaryFolder();
});

const file = () => join(folder, 'secret.key');

describe('the secret box', () => {
  it('opens what it sealed, also after a restart, and never seals alike', () => {
    const sealed = openSecretBox(folder, null).seal('sk-ключ-🔑');
    expect(openSecretBox(folder, null).open(sealed)).toBe('sk-ключ-🔑');
    expect(openSecretBox(folder, null).seal('sk-ключ-🔑')).not.toBe(sealed);
  });

  it('keeps its key readable by its owner alone, even if the file was left open', () => {
    openSecretBox(folder, null);
    expect(statSync(file()).mode & 0o777).toBe(0o600);
    chmodSync(file(), 0o644);
    openSecretBox(folder, null);
    expect(statSync(file()).mode & 0o777).toBe(0o600);
  });

  it('refuses what was sealed elsewhere or touched, without repeating it', () => {
    const sealed = openSecretBox(folder, 'one secret of the environment').seal('sk-canary');
    expect(() => openSecretBox(folder, 'another secret').open(sealed)).toThrow('another key');
    expect(() =>
      openSecretBox(folder, 'one secret of the environment').open(`${sealed.slice(0, -2)}AA`),
    ).toThrow();
    expect(() => openSecretBox(folder, null).open('sk-canary')).toThrow(/^not a sealed secret$/);
  });

  it('stops at a key file that holds no key, instead of making another', () => {
    writeFileSync(file(), 'oops');
    expect(() => openSecretBox(folder, null)).toThrow(/restore it/);
    expect(readFileSync(file(), 'utf8')).toBe('oops');
  });

  it('leaves the mode of a file alone that a link leads to and that holds no key', () => {
    const other = join(folder, 'passwd');
    writeFileSync(other, 'root', { mode: 0o644 });
    symlinkSync(other, file());
    expect(() => openSecretBox(folder, null)).toThrow(/does not hold a key/);
    expect(statSync(other).mode & 0o777).toBe(0o644);
  });

  it('stops at a pipe instead of waiting for its other end', () => {
    execFileSync('mkfifo', [file()]);
    expect(() => openSecretBox(folder, null)).toThrow(/does not hold a key/);
  });
});
