/**
 * What a new installation shows instead of an empty list: the two ways that change that. It disappears by itself when
 * the first session arrives, which its host decides.
 */
import { useMutation, useQuery } from '@tanstack/react-query';
import { KeyRound, Radio, Repeat } from 'lucide-react';
import { useState } from 'react';
import { api, systemQuery, takesNothing, useDenial } from '../../api';
import { TextLink } from '../../app/text-link';
import { Button, Callout, Skeleton, Tabs } from '../../ui';
import { Segmented } from '../../ui/segmented';
import { ListeningPulse } from './listening-pulse';
import { PointYourSdk } from './proxy-onboarding';
import { Snippet } from './snippet';
import { type SnippetLanguage, snippet } from './snippets';

interface Onboarding {
  agent_key: string | null;
  ingest_url: string;
}

const LANGUAGES: readonly { value: SnippetLanguage; label: string }[] = [
  { value: 'curl', label: 'curl' },
  { value: 'python', label: 'Python' },
  { value: 'typescript', label: 'TypeScript' },
];

type Way = 'logs' | 'proxy';

const WAYS: readonly { value: Way; label: string }[] = [
  { value: 'logs', label: 'Post DecisionLogs' },
  { value: 'proxy', label: 'Change one base URL' },
];

const WORDS: Record<Way, { lead: string; title: string; text: string }> = {
  logs: {
    lead: 'Listening for your first DecisionLog',
    title: 'Send your first DecisionLog',
    text: 'One request per agent step is all it takes. The session appears here the moment it arrives.',
  },
  proxy: {
    lead: 'Listening for your first call',
    title: 'Send your LLM calls through Observatory',
    text: 'Each call is a step of its session. A pause holds the agent’s next call, whatever its code does.',
  },
};

export function OnboardingEmptyState() {
  const [way, setWay] = useState<Way>('logs');
  const { lead, title, text } = WORDS[way];
  const { data: isBarred = false } = useQuery({ ...systemQuery, select: ({ view }) => takesNothing(view) });
  return (
    <section aria-labelledby="onboarding-title" className="mx-auto w-full max-w-4xl px-4 py-10 md:py-14">
      {isBarred ? (
        <Callout tone="danger" alert>
          The database takes nothing: no session can arrive until it does.{' '}
          <TextLink to="/system">System says why</TextLink>
        </Callout>
      ) : (
        <ListeningPulse>{lead}</ListeningPulse>
      )}
      <h1
        id="onboarding-title"
        className="mt-4 text-balance text-center font-semibold text-xl tracking-tight"
      >
        {title}
      </h1>
      <p className="mx-auto mt-1 max-w-lg text-balance text-center text-md text-muted">{text}</p>
      <div className="mt-5 flex justify-center">
        <Segmented label="How your agents report" value={way} onChange={setWay} options={WAYS} />
      </div>
      {way === 'logs' ? <FirstLog /> : <PointYourSdk />}
      <SampleLoop />
    </section>
  );
}

/** The request that sends it, in three languages, with a key. */
export function FirstLog() {
  const { data, error, refetch } = useQuery({
    queryKey: ['onboarding'],
    queryFn: () => api.get<Onboarding>('/v1/onboarding'),
  });
  const [created, setCreated] = useState<string | null>(null);
  const [language, setLanguage] = useState<SnippetLanguage>('curl');
  const [stamp] = useState(() => ({
    suffix: Math.random().toString(36).slice(2, 6),
    timestamp: new Date().toISOString(),
  }));

  if (error) {
    return (
      <Callout tone="danger" className="mt-6">
        {error.message}{' '}
        <button type="button" className="underline" onClick={() => refetch()}>
          Try again
        </button>
      </Callout>
    );
  }
  if (!data) return <Skeleton className="mt-6 h-64 w-full" />;

  const agentKey = data.agent_key ?? created;
  const input = { ingestUrl: data.ingest_url, agentKey, ...stamp };
  return (
    <div className="mt-6 flex flex-col gap-3">
      {data.agent_key === null ? <NewKey created={created} onCreated={setCreated} /> : null}
      <div className="overflow-hidden rounded-lg border border-line bg-surface shadow-panel">
        <Tabs
          label="Language"
          value={language}
          onChange={setLanguage}
          tabs={LANGUAGES.map(({ value, label }) => ({
            value,
            label,
            content: (
              <Snippet
                code={snippet(value, input)}
                label={`${label} snippet`}
                testId={value === 'curl' ? 'onboarding-curl' : undefined}
              />
            ),
          }))}
        />
      </div>
    </div>
  );
}

/** The gateway no longer knows the first key, or this person may not see it: a new one, shown this once. */
function NewKey({ created, onCreated }: { created: string | null; onCreated: (secret: string) => void }) {
  const denial = useDenial('manage_access');
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => api.post<{ secret: string }>('/v1/agent-keys', { name: 'first agent' }),
    onSuccess: ({ secret }) => onCreated(secret),
  });
  if (created) {
    return (
      <Callout tone="warning" icon={<KeyRound size={14} aria-hidden="true" />}>
        This key is in the snippets below and is shown only now. Copy it before you leave the page.
      </Callout>
    );
  }
  return (
    <div className="flex flex-wrap items-center justify-center gap-3">
      <Button
        variant="primary"
        icon={<KeyRound size={14} aria-hidden="true" />}
        busy={isPending}
        disabledReason={denial}
        onClick={() => mutate()}
      >
        Create an agent key
      </Button>
      <span className="text-muted text-xs">and the snippets below are ready to paste.</span>
      {error ? (
        <Callout tone="danger" alert className="w-full">
          {error.message}
        </Callout>
      ) : null}
    </div>
  );
}

function SampleLoop() {
  const denial = useDenial('command');
  const { mutate, isPending, isSuccess, error } = useMutation({
    mutationFn: () => api.post('/v1/sample-loop'),
  });
  return (
    <div className="mt-8 flex flex-col items-center gap-3 border-line border-t pt-6">
      <p className="flex items-center gap-2 text-center text-muted">
        <Radio size={14} aria-hidden="true" className="max-md:hidden" />
        No agent at hand? See an alert with a made-up one that is going in circles.
      </p>
      <Button
        data-testid="send-sample"
        icon={<Repeat size={14} aria-hidden="true" />}
        busy={isPending}
        disabledReason={denial}
        onClick={() => mutate()}
      >
        Send a sample loop
      </Button>
      <p role="status" className="text-muted text-xs">
        {isSuccess ? 'Sent. It will be here in a moment.' : null}
      </p>
      {error ? (
        <Callout tone="danger" alert>
          {error.message}
        </Callout>
      ) : null}
    </div>
  );
}
