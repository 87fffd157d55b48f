/**
 * What an operator has typed and not sent, by what it is for. It outlives the page and the login, which may end in the
 * middle of a sentence; nobody else who signs in here reads it. In this tab's memory alone.
 */
import { type SetStateAction, useCallback } from 'react';
import { create } from 'zustand';
import { useMe } from '../../api';

type Drafts = ReadonlyMap<string, string>;

/** The oldest gives way. */
const DRAFT_COUNT_MAX = 50;

const useDrafts = create<Drafts>(() => new Map());

/** Null as the text: nothing is typed, and nothing remembered. */
export type Draft = [text: string | null, setText: (next: SetStateAction<string | null>) => void];

export function useDraft(purpose: string): Draft {
  const me = useMe();
  const key = JSON.stringify([me?.tenant_id, me?.operator_id, purpose]);
  const text = useDrafts((drafts) => drafts.get(key) ?? null);
  const setText = useCallback(
    (next: SetStateAction<string | null>) =>
      useDrafts.setState((drafts) => {
        const before = drafts.get(key) ?? null;
        return withDraft(drafts, key, typeof next === 'function' ? next(before) : next);
      }, true),
    [key],
  );
  return [text, setText];
}

function withDraft(drafts: Drafts, key: string, text: string | null): Drafts {
  const rest = [...drafts].filter(([other]) => other !== key).slice(1 - DRAFT_COUNT_MAX);
  return new Map(text === null ? rest : [...rest, [key, text]]);
}
