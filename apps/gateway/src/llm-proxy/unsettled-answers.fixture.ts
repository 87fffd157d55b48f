import type { StoredDocument } from '#contracts';
import type { Clock } from '#kernel';
import { UnsettledAnswers } from './unsettled-answers.js';

/** @param documents what is stored; changed with it */
export const newUnsettledAnswers = (
  clock: Clock,
  documents = new Map<string, StoredDocument>(),
): UnsettledAnswers =>
  new UnsettledAnswers({
    clock,
    store: {
      documents: async () => [...documents.values()],
      saveDocument: async (document) => void documents.set(document.id, structuredClone(document)),
      deleteDocument: async (_tenantId, _kind, id) => void documents.delete(id),
    },
    onSaveFailed: (error) => {
      throw error;
    },
  });
