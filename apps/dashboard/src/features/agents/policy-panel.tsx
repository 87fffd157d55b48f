/** What an agent, or all of them together, may do and spend. Empty means no limit; the gateway's objections stand at the field. */
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import type { AgentPolicy, AgentPolicyPatch, AllAgentsPolicy } from '#contracts';
import { type FieldProblems, patchAllAgentsPolicy, patchPolicy, toRefusal, useDenial } from '../../api';
import { useEdits } from '../../app/use-draft';
import { useAnswerOverLive } from '../../realtime';
import { Callout, Field, Panel, SaveBar, Textarea, toast, UnitInput, useFocusFirstError } from '../../ui';
import { GuardChoice } from './guard-choice';
import { HoursField } from './hours-field';
import { LastChange } from './last-change';
import {
  CHOICE_FIELDS,
  CHOICE_FIELDS_OF_ALL,
  type EditablePolicy,
  editsSince,
  LIMIT_GROUPS,
  LIMIT_GROUPS_OF_ALL,
  type LimitField,
  limitText,
  modelsText,
  NO_EDITS,
  type PolicyEdits,
  toPolicyPatch,
} from './policy-form';

export const PolicyPanel = ({ policy }: { policy: AgentPolicy }) => (
  <PolicyForm
    policy={policy}
    draft={`policy ${policy.agent_id}`}
    save={(patch) => patchPolicy(policy.agent_id, patch)}
    groups={LIMIT_GROUPS}
    choices={CHOICE_FIELDS}
  />
);

/** What holds for all agents together. */
export const PolicyOfAllPanel = ({ policy }: { policy: AllAgentsPolicy }) => (
  <PolicyForm
    policy={policy}
    draft="policy of all agents"
    save={patchAllAgentsPolicy}
    groups={LIMIT_GROUPS_OF_ALL}
    choices={CHOICE_FIELDS_OF_ALL}
  />
);

interface PolicyFormProps<P> {
  policy: P;
  /** Under which what is edited and not saved yet is kept. */
  draft: string;
  save: (patch: AgentPolicyPatch) => Promise<P>;
  groups: typeof LIMIT_GROUPS;
  choices: typeof CHOICE_FIELDS;
}

function PolicyForm<P extends EditablePolicy & Pick<AgentPolicy, 'updated_at_ms' | 'updated_by'>>({
  policy: live,
  draft,
  save,
  groups,
  choices,
}: PolicyFormProps<P>) {
  const [policy, onMutate] = useAnswerOverLive(live);
  const denial = useDenial('configure');
  const [edits, setEdits] = useEdits<PolicyEdits>(draft, NO_EDITS);
  const [typos, setTypos] = useState<Record<string, string>>({});
  const { mutate, isPending, error, reset } = useMutation({
    mutationFn: ({ patch }: Saving) => save(patch),
    onMutate,
    onSuccess: (saved, { sent }, holdAnswer) => {
      holdAnswer(saved);
      setEdits((current) => editsSince(current, sent));
      toast({ title: 'Policy saved', description: 'In force from the next call on.', tone: 'success' });
    },
  });
  const { patch, errors } = toPolicyPatch(edits, policy);
  const changeCount = Object.keys(patch).length + Object.keys(errors).length;
  const refusal = toRefusal(error, (path) => path in policy || /^allowed_(hours|models)\./.test(path));
  const problems = { ...refusal.fields, ...typos };
  const form = useFocusFirstError(problems);

  const edit = (next: PolicyEdits) => {
    setEdits(next);
    setTypos({});
    if (error) reset();
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setTypos(errors);
    if (!denial && !isPending && changeCount > 0 && Object.keys(errors).length === 0)
      mutate({ patch, sent: edits });
  };
  return (
    <Panel title="Policy" aside={<LastChange of={policy} />} bodyClassName="">
      <form ref={form} onSubmit={submit} noValidate className="flex flex-col">
        {denial ? <Callout className="m-3 mb-0">{denial} You can look, not change.</Callout> : null}
        {groups.map(({ title, help, fields }) => (
          <fieldset key={title} className="border-line border-b px-3 py-3">
            <legend className="sr-only">{title}</legend>
            <p aria-hidden="true" className="font-medium">
              {title}
            </p>
            <p className="mb-2 text-muted text-xs">{help}</p>
            <div className="grid gap-2 max-md:grid-cols-2 md:grid-cols-[repeat(auto-fit,minmax(7rem,1fr))]">
              {fields.map((field) => (
                <Limit
                  key={field.key}
                  field={field}
                  text={edits.limits[field.key] ?? limitText(policy[field.key])}
                  error={problems[field.key]}
                  isReadOnly={denial !== null}
                  onChange={(text) => edit({ ...edits, limits: { ...edits.limits, [field.key]: text } })}
                />
              ))}
            </div>
          </fieldset>
        ))}
        <HoursField
          hours={(edits.hours === undefined ? policy.allowed_hours : edits.hours) ?? null}
          problems={problems}
          isReadOnly={denial !== null}
          onChange={(hours) => edit({ ...edits, hours })}
        />
        <div className="border-line border-b px-3 py-3">
          <Field
            label={<span className="text-base">Allowed models</span>}
            hint="gpt-5-mini stands for its dated versions too, claude-haiku-* for every ending. Calls that name no model, such as batches, are then refused."
            error={problems.allowed_models ?? problemOfModel(problems)}
          >
            <Textarea
              name="allowed_models"
              rows={2}
              value={edits.models ?? modelsText(policy.allowed_models)}
              placeholder="any"
              readOnly={denial !== null}
              onChange={(event) => edit({ ...edits, models: event.target.value })}
            />
          </Field>
        </div>
        {choices.map(({ key, ...field }) => (
          <GuardChoice
            key={key}
            {...field}
            value={edits[key] ?? policy[key] ?? ''}
            problem={problems[key]}
            isReadOnly={denial !== null}
            onChange={(value) => edit({ ...edits, [key]: value })}
          />
        ))}
        {refusal.general ? (
          <Callout tone="danger" alert className="m-3 mb-0">
            Not saved: {refusal.general}
          </Callout>
        ) : null}
        <SaveBar
          changeCount={changeCount}
          idleText="An empty field does not limit."
          label="Save policy"
          testId="policy-save"
          isPending={isPending}
          denial={denial}
          onDiscard={() => edit(NO_EDITS)}
          className="px-3 py-2.5"
        />
      </form>
    </Panel>
  );
}

/** The field holds the names together, of which one may be refused: `allowed_models.1`. */
const problemOfModel = (problems: FieldProblems): string | undefined =>
  Object.entries(problems).find(([path]) => path.startsWith('allowed_models.'))?.[1];

interface Saving {
  patch: AgentPolicyPatch;
  /** The edits that say so. */
  sent: PolicyEdits;
}

interface LimitProps {
  field: LimitField;
  text: string;
  error: string | undefined;
  isReadOnly: boolean;
  onChange: (text: string) => void;
}

function Limit({ field, text, error, isReadOnly, onChange }: LimitProps) {
  return (
    <Field label={field.label} error={error}>
      <UnitInput
        name={field.key}
        unit={field.unit}
        value={text}
        placeholder="none"
        readOnly={isReadOnly}
        onChange={(event) => onChange(event.target.value)}
      />
    </Field>
  );
}
