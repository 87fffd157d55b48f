/** Finds and checks the files of a model. Every error names the path, and says what to do about it. */
import { hash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import type { MinilmVariant } from '#domain/embedding';

/** What a manifest must say for its files to be checked; models/README.md has the whole format. */
const fileSchema = z.object({ name: z.string(), bytes: z.number().int().positive(), sha256: z.string() });
const manifestSchema = z.object({
  model_id: z.string(),
  dimension: z.number().int().positive(),
  files: z.tuple([fileSchema], fileSchema),
});
export type ModelManifest = z.infer<typeof manifestSchema>;

export interface BundledModel {
  file: string;
  bytes: Buffer;
  manifest: ModelManifest;
}

export const STATIC_REMEDY = 'restore the folder models/observatory-static-384 of the release';
export const MINILM_REMEDY =
  'run "npm run models:pull -- minilm", or set LOOP_EMBEDDING_MODEL_PATH to a folder with ' +
  'model_quantized.onnx and tokenizer.json';

/** In the order they are looked for, in the folder itself and in its folder `onnx`. */
const MINILM_FILES: { name: string; variant: MinilmVariant }[] = [
  { name: 'model_quantized.onnx', variant: 'int8' },
  { name: 'model_int8.onnx', variant: 'int8' },
  { name: 'model.onnx', variant: 'fp32' },
];

/**
 * The bundled model's bytes, proven to be those its manifest names. Reads the file once: 8 MB, about 30 ms.
 *
 * @throws Error with a remedy
 */
export async function readBundledModel(directory: string): Promise<BundledModel> {
  const manifestFile = join(directory, 'manifest.json');
  const parsed = manifestSchema.safeParse(await readJson(manifestFile, STATIC_REMEDY));
  if (!parsed.success) throw new Error(`${manifestFile} is not the manifest of a model: ${STATIC_REMEDY}`);
  const manifest = parsed.data;
  const [{ name, bytes: bytesExpected, sha256 }] = manifest.files;
  const file = join(directory, name);
  const bytes = await readFile(file).catch((error) => {
    throw new Error(`the model cannot be read (${reasonOf(error)}): ${file}; ${STATIC_REMEDY}`);
  });
  const found = hash('sha256', bytes);
  if (bytes.length !== bytesExpected || found !== sha256) {
    throw new Error(
      `the model is damaged: ${file} has ${bytes.length} bytes and SHA-256 ${found}, ` +
        `its manifest says ${bytesExpected} and ${sha256}; ${STATIC_REMEDY}`,
    );
  }
  return { file, bytes, manifest };
}

export interface MinilmFiles {
  modelFile: string;
  variant: MinilmVariant;
  /** Parsed JSON. */
  tokenizer: object;
  /** Parsed JSON; empty where the folder has no tokenizer_config.json, which then is not needed. */
  tokenizerConfig: object;
}

/** @throws Error with a remedy */
export async function findMinilm(path: string): Promise<MinilmFiles> {
  const found = await stat(path).catch(() => null);
  if (found === null) throw new Error(`there is no model at ${path}: ${MINILM_REMEDY}`);
  const model = found.isDirectory() ? await findModelFile(path) : namedModelFile(path);
  const folder = await tokenizerFolder(model.modelFile);
  const tokenizer = await readJson(join(folder, 'tokenizer.json'), MINILM_REMEDY);
  const configFile = join(folder, 'tokenizer_config.json');
  return {
    ...model,
    tokenizer,
    tokenizerConfig: (await isFile(configFile)) ? await readJson(configFile, MINILM_REMEDY) : {},
  };
}

type ModelFile = Pick<MinilmFiles, 'modelFile' | 'variant'>;

async function findModelFile(directory: string): Promise<ModelFile> {
  for (const file of MINILM_FILES) {
    for (const folder of [directory, join(directory, 'onnx')]) {
      const modelFile = join(folder, file.name);
      if (await isFile(modelFile)) return { modelFile, variant: file.variant };
    }
  }
  throw new Error(
    `${directory} has no ${MINILM_FILES.map((file) => file.name).join(', ')}: ${MINILM_REMEDY}`,
  );
}

/** A file named like none of ours counts as fp32, the edition whose vectors are the reference. */
function namedModelFile(modelFile: string): ModelFile {
  const known = MINILM_FILES.find((file) => file.name === basename(modelFile));
  return { modelFile, variant: known?.variant ?? 'fp32' };
}

/** Beside the model, or one folder up where the model lies in a folder `onnx`, as it is published. */
async function tokenizerFolder(modelFile: string): Promise<string> {
  const beside = dirname(modelFile);
  const isPublished = basename(beside) === 'onnx' && !(await isFile(join(beside, 'tokenizer.json')));
  return isPublished ? dirname(beside) : beside;
}

async function readJson(file: string, remedy: string): Promise<object> {
  const text = await readFile(file, 'utf8').catch((error) => {
    throw new Error(`the model is not complete, ${file} cannot be read (${reasonOf(error)}): ${remedy}`);
  });
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value;
  } catch {}
  throw new Error(`${file} is no JSON object, it may be damaged: ${remedy}`);
}

const isFile = (file: string): Promise<boolean> =>
  stat(file).then(
    (found) => found.isFile(),
    () => false,
  );

const reasonOf = (error: unknown): string =>
  (error as NodeJS.ErrnoException).code ?? (error instanceof Error ? error.message : String(error));
