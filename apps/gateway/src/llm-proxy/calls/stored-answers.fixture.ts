import type { StoredDocument } from '#contracts';
import type { Clock } from '#kernel';
import type { AnswerStoreParts } from './stored-answers.js';

/** @param documents what is stored; changed with it */
export const answerStore = (
  clock: Clock,
  documents = new Map<string, StoredDocument>(),
): AnswerStoreParts => ({
  clock,
  timer: { after: () => () => {} },
  store: {
    documents: async () => [...documents.values()],
    commitDocuments: async ({ saved = [], deleted = [] }) => {
      for (const document of saved) documents.set(document.id, structuredClone(document));
      for (const { id } of deleted) documents.delete(id);
    },
  },
  onSaveFailed: (error) => {
    throw error;
  },
});
