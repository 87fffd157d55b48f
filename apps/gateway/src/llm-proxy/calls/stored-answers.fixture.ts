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
    saveDocument: async (document) => void documents.set(document.id, structuredClone(document)),
    deleteDocument: async (_tenantId, _kind, id) => void documents.delete(id),
  },
  onSaveFailed: (error) => {
    throw error;
  },
});
