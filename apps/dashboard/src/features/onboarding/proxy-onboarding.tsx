/** What Agents and Calls show before the first proxied call: the one line to change, for each vendor's own SDK. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { HEADERS } from '#contracts';
import { api } from '../../api';
import { Address, CopyButton, Tabs } from '../../ui';
import { Segmented } from '../../ui/segmented';
import { ListeningPulse } from './listening-pulse';
import {
  type KeyOwner,
  PROXY_CLIENTS,
  type ProxyClient,
  proxyBaseUrls,
  proxySnippet,
} from './proxy-snippets';
import { Snippet } from './snippet';

const CLIENT_LABELS: Record<ProxyClient, string> = {
  environment: 'Environment',
  'openai-python': 'OpenAI, Python',
  'openai-node': 'OpenAI, TypeScript',
  anthropic: 'Anthropic',
  gemini: 'Gemini',
  curl: 'curl',
};

interface ProxyOnboardingProps {
  lead: string;
  title: string;
  text: string;
}

export function ProxyOnboarding({ lead, title, text }: ProxyOnboardingProps) {
  return (
    <section
      data-testid="proxy-onboarding"
      aria-labelledby="proxy-onboarding-title"
      className="mx-auto w-full max-w-4xl px-4 py-10"
    >
      <ListeningPulse>{lead}</ListeningPulse>
      <h1
        id="proxy-onboarding-title"
        className="mt-4 text-balance text-center font-semibold text-xl tracking-tight"
      >
        {title}
      </h1>
      <p className="mx-auto mt-1 max-w-lg text-balance text-center text-md text-muted">{text}</p>
      <PointYourSdk />
    </section>
  );
}

/** Base URLs and code; also of use where agents are there already. */
export function PointYourSdk() {
  const { data } = useQuery({
    queryKey: ['onboarding'],
    queryFn: () => api.get<{ agent_key: string | null }>('/v1/onboarding'),
  });
  const [chosen, setChosen] = useState<ProxyClient | null>(null);
  const [keyOwner, setKeyOwner] = useState<KeyOwner>('caller');
  const { origin } = window.location;
  const agentKey = data?.agent_key ?? null;
  const clients = PROXY_CLIENTS[keyOwner];
  const client = clients.find((each) => each === chosen) ?? (clients[0] as ProxyClient);
  return (
    <div className="mt-6 flex flex-col gap-4">
      <dl className="grid gap-px overflow-hidden rounded-lg border border-line bg-line">
        {proxyBaseUrls(origin).map(({ name, url }) => (
          <div key={name} className="min-w-0 items-center bg-surface px-3 py-1.5 md:flex">
            <dt className="w-36 shrink-0 text-2xs text-muted">{name} base URL</dt>
            <dd className="flex min-w-0 flex-1 items-center gap-1 text-xs">
              <Address url={url} />
              <CopyButton text={url} label={`Copy the ${name} base URL`} className="ml-auto" />
            </dd>
          </div>
        ))}
      </dl>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <Segmented
          label="Whose vendor key"
          value={keyOwner}
          onChange={setKeyOwner}
          options={[
            { value: 'caller', label: 'My vendor key passes through' },
            { value: 'ours', label: 'Observatory holds it' },
          ]}
        />
        <p className="text-muted text-xs">
          {keyOwner === 'caller' ? (
            <>
              Your vendor key stays where it is; the agent key travels in{' '}
              <code className="font-mono text-fg">{HEADERS.agentKey}</code>.
            </>
          ) : (
            <>
              The agent key takes the vendor key’s place. Set the vendor’s in{' '}
              <Link to="/settings" search={{ section: 'upstreams' }} className="text-accent underline">
                Settings, Upstreams
              </Link>
              .
            </>
          )}
        </p>
      </div>
      <div className="overflow-hidden rounded-lg border border-line bg-surface shadow-panel">
        <Tabs
          label="Client"
          value={client}
          onChange={setChosen}
          tabs={clients.map((value) => ({
            value,
            label: CLIENT_LABELS[value],
            content: (
              <Snippet
                code={proxySnippet(value, { origin, agentKey, keyOwner })}
                label={`${CLIENT_LABELS[value]} snippet`}
                testId={`proxy-snippet-${value}`}
              />
            ),
          }))}
        />
      </div>
      {agentKey === null && data ? (
        <p className="text-center text-muted text-xs">
          Agent keys are created in{' '}
          <Link to="/settings" search={{ section: 'agent-keys' }} className="text-accent underline">
            Settings, Agent keys
          </Link>
          .
        </p>
      ) : null}
    </div>
  );
}
