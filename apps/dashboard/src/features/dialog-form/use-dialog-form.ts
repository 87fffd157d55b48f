/** The life of a form in a dialog: a draft, what is wrong with it, saving it, and the gateway's objections. */
import { type QueryKey, useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { type FieldProblems, toRefusal } from '../../api';
import { useEdits } from '../../app/use-draft';

interface DialogFormOptions<Draft, Body, Answer> {
  /** In all of the dashboard, with what it is about: what was typed is there again after a login that ended meanwhile. */
  purpose: string;
  initial: Draft | (() => Draft);
  /** Members of the draft that no one but this dialog remembers. */
  secrets?: readonly (keyof Draft)[];
  /** What goes on the wire, and what is plainly wrong with it, by field on the wire. */
  check: (draft: Draft) => { body: Body; errors: FieldProblems };
  save: (body: Body) => Promise<Answer>;
  /** Those with a place in the form, as they are named on the wire. */
  fields: readonly string[];
  /** What is out of date once it is saved. */
  queryKey: QueryKey;
  onSaved?: (answer: Answer) => void;
  onClose: () => void;
}

export interface DialogFormState<Draft> {
  draft: Draft;
  edit: (change: Partial<Draft>) => void;
  /** By field on the wire: what was typed wrong, and what the gateway said. */
  problems: FieldProblems;
  /** What the gateway said that belongs to no field. */
  refusal: string | null;
  isSaving: boolean;
  submit: (event: FormEvent) => void;
  /** Not while it is being saved. */
  close: () => void;
}

/** The same one each time: nothing is typed. */
const NOTHING = {};

/** Closes itself once it is saved, and what it changed is being read again. */
export function useDialogForm<Draft extends object, Body, Answer>(
  options: DialogFormOptions<Draft, Body, Answer>,
): DialogFormState<Draft> {
  const { purpose, secrets = [], check, save, fields, queryKey, onSaved } = options;
  const queryClient = useQueryClient();
  const [initial] = useState(options.initial);
  const [typed, setTyped] = useEdits<Partial<Draft>>(purpose, NOTHING);
  const [typedSecrets, setTypedSecrets] = useState<Partial<Draft>>(NOTHING);
  const draft = { ...initial, ...typed, ...typedSecrets };
  const [typos, setTypos] = useState<FieldProblems>({});
  const onClose = () => {
    setTyped(NOTHING);
    options.onClose();
  };
  const { mutate, isPending, error, reset } = useMutation({
    mutationFn: save,
    onSuccess: async (answer) => {
      onSaved?.(answer);
      await queryClient.invalidateQueries({ queryKey });
      onClose();
    },
  });
  const refused = toRefusal(error, (path) => fields.includes(path));
  return {
    draft,
    problems: { ...refused.fields, ...typos },
    refusal: refused.general,
    isSaving: isPending,
    edit: (change) => {
      const [kept, secret] = parted(change, secrets);
      setTyped((before) => ({ ...before, ...kept }));
      setTypedSecrets((before) => ({ ...before, ...secret }));
      setTypos({});
      if (error) reset();
    },
    submit: (event) => {
      event.preventDefault();
      const { body, errors } = check(draft);
      setTypos(errors);
      if (!isPending && Object.keys(errors).length === 0) mutate(body);
    },
    // Closed meanwhile, nobody would see that it was refused.
    close: () => isPending || onClose(),
  };
}

function parted<Draft extends object>(change: Partial<Draft>, secrets: readonly (keyof Draft)[]) {
  const isSecret = ([member]: [string, unknown]) => secrets.includes(member as keyof Draft);
  const members = Object.entries(change);
  return [members.filter((one) => !isSecret(one)), members.filter(isSecret)].map(
    (some) => Object.fromEntries(some) as Partial<Draft>,
  );
}
