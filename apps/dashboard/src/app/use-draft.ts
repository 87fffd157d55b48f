/**
 * What an operator has typed and not sent, by what it is for. It outlives the page and the login, which may end in the
 * middle of a sentence; nobody else who signs in here reads it. In this tab's memory alone.
 */
import { type Dispatch, type SetStateAction, useCallback } from 'react';
import { create } from 'zustand';
import { useMe } from '../api';

type Drafts = ReadonlyMap<string, unknown>;

/** The oldest gives way. */
const DRAFT_COUNT_MAX = 50;

const useDrafts = create<Drafts>(() => new Map());

/** Null: nothing is typed, and nothing remembered. */
export type Draft<T = string> = [typed: T | null, setTyped: Dispatch<SetStateAction<T | null>>];

/** @param purpose in all of the dashboard, with what it is about; always of the same T */
export function useDraft<T = string>(purpose: string): Draft<T> {
  const me = useMe();
  const key = JSON.stringify([me?.tenant_id, me?.operator_id, purpose]);
  const typed = useDrafts((drafts) => (drafts.get(key) as T | undefined) ?? null);
  const setTyped = useCallback(
    (next: SetStateAction<T | null>) =>
      useDrafts.setState(
        (drafts) => withDraft(drafts, key, resolved(next, (drafts.get(key) as T) ?? null)),
        true,
      ),
    [key],
  );
  return [typed, setTyped];
}

/** The edits of a form, which has a way to discard them. @param none the same one at each call */
export function useEdits<T>(purpose: string, none: T): [edits: T, setEdits: Dispatch<SetStateAction<T>>] {
  const [edits, setDraft] = useDraft<T>(purpose);
  const setEdits = useCallback(
    (next: SetStateAction<T>) =>
      setDraft((before) => {
        const after = resolved(next, before ?? none);
        // Discarded: it takes no place from what somebody still means to send.
        return after === none ? null : after;
      }),
    [setDraft, none],
  );
  return [edits ?? none, setEdits];
}

const resolved = <T>(next: SetStateAction<T>, before: T): T =>
  typeof next === 'function' ? (next as (before: T) => T)(before) : next;

function withDraft(drafts: Drafts, key: string, typed: unknown): Drafts {
  const rest = [...drafts].filter(([other]) => other !== key).slice(1 - DRAFT_COUNT_MAX);
  return new Map(typed === null ? rest : [...rest, [key, typed]]);
}
