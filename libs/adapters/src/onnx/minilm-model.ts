/**
 * all-MiniLM-L6-v2 from a folder: WordPiece, transformer, mean over the tokens, unit length. One text at a time: in a
 * padded batch the int8 edition gives a text another vector than alone.
 */
import { Tokenizer } from '@huggingface/tokenizers';
import type { Tensor } from 'onnxruntime-node';
import { judgeWordPieces, meanPool, minilmDescription, truncateWordPieces } from '#domain/embedding';
import type { LoadedModel } from './loaded-model.js';
import { findMinilm, MINILM_REMEDY } from './model-files.js';
import { openSession, rowOfInt64 } from './onnx-session.js';
import type { MinilmModelSettings } from './protocol.js';

const INPUTS = ['input_ids', 'attention_mask'];
const OUTPUT = 'last_hidden_state';
const UNKNOWN = '[UNK]';

/** @throws Error with a remedy */
export async function openMinilmModel({ path }: MinilmModelSettings): Promise<LoadedModel> {
  const files = await findMinilm(path);
  const description = minilmDescription(files.variant);
  const { encode, unknownId } = openTokenizer(files.tokenizer, files.tokenizerConfig, files.modelFile);
  const session = await openSession(files.modelFile, INPUTS, MINILM_REMEDY);
  const takesTypes = session.inputNames.includes('token_type_ids');

  return {
    description,
    file: files.modelFile,
    remedy: MINILM_REMEDY,
    async embed(text) {
      const ids = truncateWordPieces(encode(text), description.tokens_max);
      const fitness = judgeWordPieces(ids, unknownId);
      if (fitness !== 'fit') return { fitness, vector: null, tokensCount: ids.length };
      const feeds: Record<string, Tensor> = {
        input_ids: rowOfInt64(ids),
        attention_mask: rowOfInt64(ids.map(() => 1)),
      };
      if (takesTypes) feeds.token_type_ids = rowOfInt64(ids.map(() => 0));
      const hidden = (await session.run(feeds))[OUTPUT];
      const dimension = hidden?.dims[2];
      if (hidden === undefined || dimension === undefined) {
        throw new Error(`${files.modelFile} is another model: it gives no ${OUTPUT}; ${MINILM_REMEDY}`);
      }
      return {
        fitness,
        vector: meanPool(hidden.data as Float32Array, dimension),
        tokensCount: ids.length,
      };
    },
    release: () => session.release(),
  };
}

interface WordPieces {
  /** Ids with [CLS] and [SEP], not cut. */
  encode(text: string): number[];
  unknownId: number;
}

function openTokenizer(json: object, config: object, modelFile: string): WordPieces {
  let tokenizer: Tokenizer;
  try {
    tokenizer = new Tokenizer(json, config);
  } catch {
    throw new Error(
      `the tokenizer.json of ${modelFile} describes no tokenizer, it may be damaged: ${MINILM_REMEDY}`,
    );
  }
  const unknownId = tokenizer.token_to_id(UNKNOWN);
  if (unknownId === undefined || tokenizer.encode('').ids.length !== 2) {
    throw new Error(
      `the tokenizer.json of ${modelFile} is another model's, not one of WordPiece: ${MINILM_REMEDY}`,
    );
  }
  return {
    encode(text) {
      try {
        return tokenizer.encode(text).ids;
      } catch {
        // The tokenizer's own message may quote the text.
        throw new Error('the text could not be cut into tokens');
      }
    },
    unknownId,
  };
}
