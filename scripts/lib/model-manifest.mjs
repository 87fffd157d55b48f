/** models/<model id>/manifest.json: what a model's files are and what they must hash to. Format: models/README.md. */
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { PullError } from './pull-error.mjs';

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const bytes = z.int().positive().max(0xffff_ffff);
const edition = z.object({ bytes: bytes.nullable(), sha256: sha256.nullable() });

const manifestSchema = z.object({
  model_id: z.string().regex(/^[\w.-]+$/),
  title: z.string(),
  licence: z.string(),
  attribution: z.array(z.string()).default([]),
  source: z.string(),
  download_base: z
    .url({ protocol: /^https?$/ })
    .endsWith('/')
    .optional(),
  dimension: z.int().positive(),
  tokens_max: z.int().positive(),
  variant_default: z.string().optional(),
  files: z
    .array(
      edition.extend({
        // Flat: a name never leads out of the folder.
        name: z.string().regex(/^\w[\w.-]*$/),
        variant: z.string().optional(),
        url_path: z
          .string()
          .regex(/^(?!.*(^|\/)\.\.?(\/|$))[\w.-][\w./-]*$/)
          .optional(),
        also: z.array(edition).default([]),
      }),
    )
    .min(1),
});

/** @typedef {z.infer<typeof manifestSchema>} ModelManifest */
/** @typedef {ModelManifest['files'][number]} ModelFile */
/** @typedef {z.infer<typeof edition>} Edition null: not known before it has been fetched once */

/** What people call a model, and its folder. @type {Record<string, string>} */
export const MODEL_ALIASES = { minilm: 'all-MiniLM-L6-v2' };

/** @param {string} path @returns {ModelManifest} @throws PullError */
export function readManifest(path) {
  let text = '';
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    throw new PullError('failed', `${path} can't be read; it says what the model's files must be.`);
  }
  try {
    return manifestSchema.parse(JSON.parse(text));
  } catch (error) {
    const [issue] = error instanceof z.ZodError ? error.issues : [];
    const where = issue ? `${issue.path.join('.')}: ${issue.message}` : String(error);
    throw new PullError('failed', `${path} is no manifest of a model (${where}).`);
  }
}

/** @param {ModelManifest} manifest @returns {string[]} in their order; empty: there are none */
const variantsOf = ({ files }) => [...new Set(files.flatMap(({ variant }) => variant ?? []))];

/**
 * @param {ModelManifest} manifest
 * @param {string | undefined} variant undefined: the manifest's default
 * @returns {ModelFile[]} those to fetch: with a `url_path`, of that variant or of none
 * @throws PullError
 */
export function filesToPull(manifest, variant = manifest.variant_default) {
  const variants = variantsOf(manifest);
  if (variant !== undefined && !variants.includes(variant)) {
    const choice = variants.length > 0 ? `it has ${variants.join(' and ')}` : 'it has only one precision';
    throw new PullError('usage', `${manifest.model_id} does not come as ${variant}: ${choice}.`);
  }
  const files = manifest.files.filter(
    (file) => file.url_path !== undefined && (file.variant === undefined || file.variant === variant),
  );
  if (files.length === 0)
    throw new PullError('usage', `${manifest.model_id} comes with this repository: nothing to fetch.`);
  return files;
}

/** @param {ModelFile} file @returns {Edition[]} every edition that is as good */
export const editionsOf = (file) => [{ bytes: file.bytes, sha256: file.sha256 }, ...file.also];
