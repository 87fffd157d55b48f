/** Folders with models for tests, each removed after its test. */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '#testing/temporary-folder';
import { buildGatherModel } from './build-onnx.js';

const repository = fileURLToPath(new URL('../../..', import.meta.url));

/** The compiled entry of the model's thread. */
export const WORKER_URL = new URL('../../../dist/libs/adapters/src/onnx/onnx-worker.js', import.meta.url);

/** Third-party and test files that are not part of the repository; may be absent. */
export const sharedModels = join(
  process.env.OBSERVATORY_SHARED ?? resolve(repository, '../shared'),
  'models',
);

const tokenizerFiles = ['tokenizer.json', 'tokenizer_config.json'];
export const minilmTokenizer = join(sharedModels, 'all-MiniLM-L6-v2');
const minilmShape = join(sharedModels, 'minilm-shape-random/model_int8.onnx');
export const isMinilmShared = existsSync(minilmTokenizer) && existsSync(minilmShape);

/** Makes a folder one of MiniLM's real tokenizer and a model of its shape with random weights. */
export async function fillWithMinilmShape(folder: string): Promise<void> {
  for (const name of tokenizerFiles) await cp(join(minilmTokenizer, name), join(folder, name));
  await cp(minilmShape, join(folder, 'model_int8.onnx'));
}

export const BUNDLED = join(repository, 'models/observatory-static-384');

/** A copy of the bundled model that a test may spoil. */
export async function copyBundled(): Promise<string> {
  const folder = temporaryFolder();
  await cp(BUNDLED, folder, { recursive: true });
  return folder;
}

/** Puts another model in the place of the bundled one, with a manifest that is true of it. */
export async function replaceBundled(model: Buffer, dimension: number): Promise<string> {
  const folder = temporaryFolder();
  const sha256 = createHash('sha256').update(model).digest('hex');
  const file = { name: 'other.onnx', bytes: model.length, sha256 };
  await writeFile(join(folder, file.name), model);
  await writeFile(
    join(folder, 'manifest.json'),
    JSON.stringify({ model_id: 'other', dimension, files: [file] }),
  );
  return folder;
}

/** The model has no row for it, so it fails on it. */
export const FAILING_WORD = 'unlisted';

/** A few words to count, and those of the sentences that a model and a sidecar are warmed up with. */
const VOCABULARY = [
  ...['[PAD]', '[UNK]', '[CLS]', '[SEP]', 'red', 'green', 'blue'],
  ...'is the model ready to compare what asked now with was before ?'.split(' '),
  ...'warm up : first real request must not be one that waits .'.split(' '),
  FAILING_WORD,
];

/** A tokenizer of the kind of BERT, with a small vocabulary. */
const TOKENIZER = {
  version: '1.0',
  truncation: null,
  padding: null,
  added_tokens: ['[PAD]', '[UNK]', '[CLS]', '[SEP]'].map((content, id) => ({
    ...{ id, content, special: true },
    ...{ single_word: false, lstrip: false, rstrip: false, normalized: false },
  })),
  normalizer: {
    type: 'BertNormalizer',
    clean_text: true,
    handle_chinese_chars: true,
    strip_accents: null,
    lowercase: true,
  },
  pre_tokenizer: { type: 'BertPreTokenizer' },
  post_processor: {
    type: 'TemplateProcessing',
    single: [
      { SpecialToken: { id: '[CLS]', type_id: 0 } },
      { Sequence: { id: 'A', type_id: 0 } },
      { SpecialToken: { id: '[SEP]', type_id: 0 } },
    ],
    pair: [],
    special_tokens: {
      '[CLS]': { id: '[CLS]', ids: [2], tokens: ['[CLS]'] },
      '[SEP]': { id: '[SEP]', ids: [3], tokens: ['[SEP]'] },
    },
  },
  decoder: { type: 'WordPiece', prefix: '##', cleanup: true },
  model: {
    type: 'WordPiece',
    unk_token: '[UNK]',
    continuing_subword_prefix: '##',
    max_input_chars_per_word: 100,
    vocab: Object.fromEntries(VOCABULARY.map((token, id) => [token, id])),
  },
};

/** A row of the table: 1 at the token's own id, 0 elsewhere; so a vector counts the tokens of its text. */
const rowOf = (id: number, dimension: number) =>
  Array.from({ length: dimension }, (_, at) => (at === id ? 1 : 0));

interface ToyOptions {
  dimension?: number;
  modelFile?: string;
  ids?: string;
  tokenizer?: object | null;
}

/** A folder like MiniLM's, with a model that counts tokens. */
export async function makeToyMinilm(options: ToyOptions = {}): Promise<string> {
  const {
    dimension = 384,
    modelFile = 'model_quantized.onnx',
    ids = 'input_ids',
    tokenizer = TOKENIZER,
  } = options;
  const folder = temporaryFolder();
  const table = VOCABULARY.slice(0, -1).map((_, id) => rowOf(id, dimension));
  const unused = ['attention_mask', 'token_type_ids'];
  await writeFile(
    join(folder, modelFile),
    buildGatherModel({ ids, unused, output: 'last_hidden_state', table }),
  );
  if (tokenizer !== null) await writeFile(join(folder, 'tokenizer.json'), JSON.stringify(tokenizer));
  return folder;
}
