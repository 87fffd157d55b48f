/**
 * AES-256-GCM under a key of this installation: `v1.<nonce>.<tag>.<text>`, base64url. The key comes from the environment
 * or from a file beside the database, made at the first start and readable by its owner alone. A copy of the database
 * without that file gives nothing away; losing the file loses what was sealed, and nothing else.
 */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { closeSync, constants, fchmodSync, fstatSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SecretBox } from '#contracts';

const KEY_FILE = 'secret.key';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const OWNER_ONLY = 0o600;
const VERSION = 'v1';

/**
 * @param fixedSecret from OBSERVATORY_SECRET_KEY, of any length; null: the file's
 * @throws Error when the file cannot be read or made, or holds something else
 */
export function openSecretBox(dataDir: string, fixedSecret: string | null): SecretBox {
  const key =
    fixedSecret === null
      ? fileKey(join(dataDir, KEY_FILE))
      : createHash('sha256').update(fixedSecret).digest();
  return {
    seal(text) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', key, nonce);
      const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return [
        VERSION,
        ...[nonce, cipher.getAuthTag(), sealed].map((part) => part.toString('base64url')),
      ].join('.');
    },
    open(sealedText) {
      const [version, nonce, tag, sealed] = sealedText.split('.');
      if (version !== VERSION || nonce === undefined || tag === undefined || sealed === undefined)
        throw new Error('not a sealed secret');
      try {
        const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(nonce, 'base64url'));
        decipher.setAuthTag(Buffer.from(tag, 'base64url'));
        return decipher.update(Buffer.from(sealed, 'base64url'), undefined, 'utf8') + decipher.final('utf8');
      } catch {
        throw new Error('sealed with another key, or changed since');
      }
    },
  };
}

function fileKey(path: string): Buffer {
  try {
    writeFileSync(path, `${randomBytes(KEY_BYTES).toString('base64url')}\n`, {
      mode: OWNER_ONLY,
      flag: 'wx',
    });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw cannotUse(path, error);
  }
  const key = readKey(path);
  if (key === null)
    throw new Error(
      `${path} does not hold a key of ${KEY_BYTES} bytes; restore it, or remove it and give keys again`,
    );
  return key;
}

/**
 * Null: it holds none. A pipe is not waited for; and what is there is made private once it is known for a key, since a link may lead
 * to anything.
 */
function readKey(path: string): Buffer | null {
  try {
    const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      if (!fstatSync(file).isFile()) return null;
      const key = Buffer.from(readFileSync(file, 'utf8').trim(), 'base64url');
      if (key.length !== KEY_BYTES) return null;
      fchmodSync(file, OWNER_ONLY);
      return key;
    } finally {
      closeSync(file);
    }
  } catch (error) {
    throw cannotUse(path, error);
  }
}

const cannotUse = (path: string, error: unknown): Error =>
  new Error(
    `${path} cannot be used (${(error as Error).message}); give that file to the user who runs this, or set OBSERVATORY_SECRET_KEY`,
  );
