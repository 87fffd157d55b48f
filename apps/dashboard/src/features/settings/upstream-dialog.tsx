/** Adds an upstream or edits one. A vendor key goes in and never comes out. */
import { UPSTREAM_KINDS, type Upstream, type UpstreamKind } from '#contracts';
import { api } from '../../api';
import { Field, Input, SelectField } from '../../ui';
import { DialogForm } from '../dialog-form/dialog-form';
import { useDialogForm } from '../dialog-form/use-dialog-form';
import { KIND_LABELS, UPSTREAMS_KEY, upstreamPath } from './upstream-names';

const KINDS = UPSTREAM_KINDS.map((value) => ({ value, label: KIND_LABELS[value] }));
const FIELDS = ['name', 'base_url', 'api_key'];

interface UpstreamDraft {
  name: string;
  kind: UpstreamKind;
  baseUrl: string;
  key: string;
}

interface UpstreamDialogProps {
  /** Null: a new one. */
  upstream: Upstream | null;
  /** What somebody else did to it since; null: nothing. */
  meanwhile: string | null;
  /** A new one of such a name would replace what is there. */
  takenNames: readonly string[];
  onClose: () => void;
}

export function UpstreamDialog({ upstream, meanwhile, takenNames, onClose }: UpstreamDialogProps) {
  const form = useDialogForm({
    purpose: `upstream ${upstream?.name ?? ''}`,
    secrets: ['key'],
    initial: {
      name: upstream?.name ?? '',
      kind: upstream?.kind ?? 'openai',
      baseUrl: upstream?.base_url ?? '',
      key: '',
    },
    check: (draft: UpstreamDraft) => ({ body: draft, errors: typosOf(draft, upstream ? [] : takenNames) }),
    save: ({ name, kind, baseUrl, key }) =>
      // What was typed; the rest stays as it is by now, whatever somebody else made of it.
      api.put(upstreamPath(name.trim()), {
        ...(baseUrl.trim() === upstream?.base_url ? {} : { base_url: baseUrl.trim() }),
        ...(kind === upstream?.kind ? {} : { kind }),
        ...(key.trim() ? { api_key: key.trim() } : {}),
      }),
    fields: FIELDS,
    queryKey: UPSTREAMS_KEY,
    onClose,
  });
  const { draft, problems, edit } = form;
  return (
    <DialogForm
      form={form}
      meanwhile={meanwhile}
      title={upstream ? `Edit ${upstream.name}` : 'Add upstream'}
      saveLabel="Save upstream"
      testId="upstream-save"
    >
      {upstream ? null : (
        <Field label="Name" hint="Part of the base URL, such as local-llm." error={problems.name}>
          <Input
            value={draft.name}
            autoComplete="off"
            onChange={(event) => edit({ name: event.target.value })}
          />
        </Field>
      )}
      <SelectField label="Speaks" value={draft.kind} options={KINDS} onChange={(kind) => edit({ kind })} />
      <Field
        label="Base URL"
        hint="With its version path, as the vendor’s SDK takes it."
        error={problems.base_url}
      >
        <Input
          value={draft.baseUrl}
          inputMode="url"
          placeholder="https://llm.example.org/v1"
          onChange={(event) => edit({ baseUrl: event.target.value })}
        />
      </Field>
      <Field
        label="Vendor key"
        hint={
          upstream?.key === 'ours'
            ? 'Empty: the one kept here stays.'
            : 'Encrypted, and never shown again. Empty: the caller’s own key passes through.'
        }
        error={problems.api_key}
      >
        <Input
          type="password"
          value={draft.key}
          autoComplete="new-password"
          onChange={(event) => edit({ key: event.target.value })}
        />
      </Field>
    </DialogForm>
  );
}

/** What is plainly wrong, by field on the wire. */
function typosOf({ name, baseUrl }: UpstreamDraft, takenNames: readonly string[]): Record<string, string> {
  const typos: Record<string, string> = {};
  if (!/^[a-z0-9][a-z0-9-]{0,62}$/.test(name.trim()))
    typos.name = 'Lower-case letters, digits and -, at most 63.';
  else if (takenNames.includes(name.trim())) typos.name = 'There is one of this name already: edit it.';
  if (!/^https?:\/\/./i.test(baseUrl.trim())) typos.base_url = 'Begin with https:// or http://.';
  return typos;
}
