/** The agent's kill switch: on or off at once; how soon it fires by preset or by numbers, on save. */
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import type { KillSwitchAnswer, KillSwitchPatch } from '#contracts';
import { patchKillSwitch, toRefusal, useDenial, withoutSent } from '../../api';
import { useEdits } from '../../app/use-draft';
import { useAnswerOverLive } from '../../realtime';
import { Button, Callout, Field, formatScore, Meter, Panel, Switch, toast, UnitInput } from '../../ui';
import { Segmented } from '../../ui/segmented';
import {
  firesAtRequest,
  type KillSwitchEdits,
  type PresetChoice,
  presetEdits,
  presetOf,
  toKillSwitchPatch,
} from './kill-switch-form';
import { LastChange } from './last-change';

const NO_EDITS: KillSwitchEdits = {};

const PRESETS: readonly { value: PresetChoice; label: string }[] = [
  { value: 'strict', label: 'Strict' },
  { value: 'default', label: 'Default' },
  { value: 'tolerant', label: 'Tolerant' },
  { value: 'custom', label: 'Custom' },
];

type Settings = Omit<KillSwitchAnswer, 'live_score'>;

export function KillSwitchPanel({ settings: { live_score, ...live } }: { settings: KillSwitchAnswer }) {
  const [settings, onMutate] = useAnswerOverLive<Settings>(live);
  const denial = useDenial('configure');
  const toggle = useMutation({
    mutationFn: (enabled: boolean) => patchKillSwitch(settings.agent_id, { enabled }),
    onMutate,
    onSuccess: (saved, _, holdAnswer) => holdAnswer(saved),
  });
  return (
    <Panel
      title="Kill switch"
      aside={<LastChange of={settings} />}
      actions={
        <Switch
          checked={toggle.isPending ? toggle.variables : settings.enabled}
          disabled={denial !== null || toggle.isPending}
          onChange={(enabled) => toggle.mutate(enabled)}
        >
          <span className="sr-only">Kill switch is </span>
          {settings.enabled ? 'On' : 'Off'}
        </Switch>
      }
      bodyClassName="flex flex-col gap-3 p-3"
    >
      {denial ? <Callout>{denial} You can look, not change.</Callout> : null}
      {toggle.error ? (
        <Callout tone="danger" alert>
          Not switched: {toggle.error.message}
        </Callout>
      ) : null}
      {settings.enabled ? (
        <LiveScore score={live_score} threshold={settings.threshold} />
      ) : (
        <Callout tone="warning">Off: nothing stops this agent when it repeats itself.</Callout>
      )}
      <KillSwitchForm settings={settings} denial={denial} onMutate={onMutate} />
    </Panel>
  );
}

/** @param score null: no live window */
function LiveScore({ score, threshold }: { score: number | null; threshold: number }) {
  return (
    <div>
      <p className="flex items-baseline gap-1.5">
        <span className="nums font-semibold text-xl" data-testid="live-score">
          {score === null ? '–' : formatScore(score)}
        </span>
        <span className="nums text-muted text-xs">
          {score === null
            ? `no live window; fires above ${formatScore(threshold)}`
            : `now, fires above ${formatScore(threshold)}`}
        </span>
      </p>
      <Meter
        label="Live score"
        value={score ?? 0}
        limit={threshold}
        text={`${formatScore(score ?? 0)} of ${formatScore(threshold)}`}
        className="mt-1 h-1.5"
      />
    </div>
  );
}

interface Saving {
  patch: KillSwitchPatch;
  /** The edits that say so. */
  sent: KillSwitchEdits;
}

interface KillSwitchFormProps {
  settings: Settings;
  denial: string | null;
  onMutate: () => (saved: Settings) => void;
}

function KillSwitchForm({ settings, denial, onMutate }: KillSwitchFormProps) {
  const [edits, setEdits] = useEdits(`kill switch ${settings.agent_id}`, NO_EDITS);
  const [isCustom, setIsCustom] = useState(settings.preset === null);
  const [typos, setTypos] = useState<Record<string, string>>({});
  const { mutate, isPending, error, reset } = useMutation({
    mutationFn: ({ patch }: Saving) => patchKillSwitch(settings.agent_id, patch),
    onMutate,
    onSuccess: (saved, { sent }, holdAnswer) => {
      holdAnswer(saved);
      setEdits((current) => withoutSent(current, sent));
      toast({ title: 'Kill switch saved', description: 'In force from the next call on.', tone: 'success' });
    },
  });
  const windowText = edits.windowSize ?? String(settings.window_size);
  const thresholdText = edits.threshold ?? String(settings.threshold);
  const scope = edits.scope ?? settings.scope;
  const preset = isCustom ? 'custom' : (presetOf(Number(windowText), Number(thresholdText)) ?? 'custom');
  const { patch, errors } = toKillSwitchPatch(edits, settings);
  const isChanged = Object.keys(patch).length + Object.keys(errors).length > 0;
  const refusal = toRefusal(error, (path) => path === 'window_size' || path === 'threshold');
  const problems = { ...refusal.fields, ...typos };
  const edit = (change: KillSwitchEdits) => {
    setEdits({ ...edits, ...change });
    setTypos({});
    if (error) reset();
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setTypos(errors);
    if (!denial && !isPending && isChanged && Object.keys(errors).length === 0)
      mutate({ patch, sent: edits });
  };
  const firesAt = firesAtRequest({ window_size: Number(windowText), threshold: Number(thresholdText) });
  return (
    <form onSubmit={submit} noValidate className="flex flex-col gap-3 border-line border-t pt-3">
      <Segmented
        label="Preset"
        value={preset}
        options={PRESETS}
        onChange={(choice) => {
          setIsCustom(choice === 'custom');
          if (choice !== 'custom') edit(presetEdits(choice));
        }}
        className="self-start"
      />
      <div className="grid grid-cols-2 gap-2">
        <Field label="Window" hint="5 to 100" error={problems.window_size}>
          <UnitInput
            name="window_size"
            unit="calls"
            value={windowText}
            readOnly={denial !== null || preset !== 'custom'}
            onChange={(event) => edit({ windowSize: event.target.value })}
          />
        </Field>
        <Field label="Fires above" hint="1 to 50" error={problems.threshold}>
          <UnitInput
            name="threshold"
            unit="score"
            value={thresholdText}
            readOnly={denial !== null || preset !== 'custom'}
            onChange={(event) => edit({ threshold: event.target.value })}
          />
        </Field>
      </div>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1.5">
        <Segmented
          label="Scope"
          value={scope}
          options={[
            { value: 'session', label: 'Each session' },
            { value: 'agent', label: 'Whole agent' },
          ]}
          onChange={(next) => edit({ scope: next })}
        />
        <span className="min-w-0 flex-1 basis-40 text-muted text-xs">
          {scope === 'session'
            ? 'Each session is judged by itself.'
            : 'All sessions together: many users with one question look like a loop.'}
        </span>
      </div>
      <p className="text-muted text-xs">
        {firesAt === null
          ? 'With these numbers equal questions with equal answers alone never fire it.'
          : `The same question with the same answer is stopped at request ${firesAt}. Answers from the cache count only in a session that the agent names.`}
      </p>
      {refusal.general ? (
        <Callout tone="danger" alert>
          Not saved: {refusal.general}
        </Callout>
      ) : null}
      {isChanged ? (
        <div className="flex justify-end gap-2">
          <Button
            disabled={isPending}
            onClick={() => {
              setEdits(NO_EDITS);
              setIsCustom(settings.preset === null);
              setTypos({});
              reset();
            }}
          >
            Discard
          </Button>
          <Button type="submit" variant="primary" busy={isPending} disabledReason={denial}>
            Save kill switch
          </Button>
        </div>
      ) : null}
    </form>
  );
}
