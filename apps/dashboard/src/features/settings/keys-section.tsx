/** Agent keys: what agents send their DecisionLogs with, and their LLM calls through the proxy. */
import { useState } from 'react';
import { type AgentKey, ENVIRONMENT_ID, HEADERS } from '#contracts';
import { useMe } from '../../api';
import { CodeBlock, EmptyState, Field, Input, Panel, Td, Th } from '../../ui';
import { proxyBaseUrls } from '../onboarding/proxy-snippets';
import { snippet } from '../onboarding/snippets';
import { AccessSection } from './access-section';
import { AccessRow, AccessTable, PhoneLine, PrefixCell } from './access-table';
import { CreateAccess } from './create-access';

const QUERY_KEY = ['agent-keys'];

export function KeysSection() {
  return (
    <AccessSection<AgentKey>
      queryKey={QUERY_KEY}
      path="/v1/agent-keys"
      form={(onCreated) => <CreateKey onCreated={onCreated} />}
      secretTitle="Your new agent key"
      secretTestId="agent-key-secret"
      secretHelp={(secret) => <TryIt secret={secret} />}
      list={(keys) => <KeyTable keys={keys} />}
    />
  );
}

function CreateKey({ onCreated }: { onCreated: (secret: string) => void }) {
  const me = useMe();
  const [tenants, setTenants] = useState('');
  const tenant_ids = tenants.split(/[\s,]+/).filter(Boolean);
  const mayNameOthers = me?.tenant_ids.some((tenant) => tenant !== me.tenant_id);
  return (
    <CreateAccess
      onCreated={(secret) => {
        setTenants('');
        onCreated(secret);
      }}
      title="New agent key"
      path="/v1/agent-keys"
      body={tenant_ids.length > 0 ? { tenant_ids } : {}}
      nameHint="Which agents will use it, such as “research fleet”."
      nameMissing="Give the key a name, so that you know later whose it is."
      submitLabel="Create key"
      testId="agent-key-create"
    >
      {(problems) =>
        mayNameOthers ? (
          <div className="w-72 max-md:w-full">
            <Field
              label="Further tenants"
              hint={`With commas between; its calls say for which in X-Tenant-Id. Empty: for ${me?.tenant_id} alone.`}
              error={Object.values(problems)[0]}
            >
              <Input
                value={tenants}
                autoCapitalize="none"
                spellCheck={false}
                placeholder="none"
                onChange={(event) => setTenants(event.target.value)}
              />
            </Field>
          </div>
        ) : null
      }
    </CreateAccess>
  );
}

function TryIt({ secret }: { secret: string }) {
  const [stamp] = useState(() => ({
    suffix: Math.random().toString(36).slice(2, 6),
    timestamp: new Date().toISOString(),
  }));
  const ingestUrl = `${window.location.origin}/v1/decision-logs`;
  return (
    <div className="flex flex-col gap-2 text-xs">
      <p>A first DecisionLog:</p>
      <CodeBlock
        code={snippet('curl', { ingestUrl, agentKey: secret, ...stamp })}
        label="curl line with the new key"
      />
      <p>
        LLM calls through the proxy carry it in <code className="font-mono">{HEADERS.agentKey}</code>, or in
        the vendor key’s place where that is kept in Observatory. Base URLs:
      </p>
      <CodeBlock
        code={proxyBaseUrls(window.location.origin)
          .map(({ url }) => url)
          .join('\n')}
        label="base URLs of the proxy"
      />
    </div>
  );
}

function KeyTable({ keys }: { keys: readonly AgentKey[] }) {
  return (
    <Panel title="Agent keys" bodyClassName="">
      {keys.length === 0 ? (
        <EmptyState title="No agent keys yet">Create one above and give it to an agent.</EmptyState>
      ) : (
        <AccessTable
          heads={
            <>
              <Th className="max-md:hidden">Key</Th>
              <Th className="max-md:hidden">Created by</Th>
            </>
          }
        >
          {keys.map((key) => (
            <AccessRow
              key={key.key_id}
              access={key}
              nameClassName="max-w-40"
              note={
                <>
                  {key.tenant_ids ? (
                    <span
                      className="line-clamp-3 whitespace-normal font-normal text-muted text-xs"
                      title={key.tenant_ids.join(', ')}
                    >
                      for {key.tenant_ids.join(', ')}
                    </span>
                  ) : null}
                  <PhoneLine>By {key.created_by}</PhoneLine>
                </>
              }
              path={`/v1/agent-keys/${encodeURIComponent(key.key_id)}`}
              listKey={QUERY_KEY}
              consequence="Agents with this key are refused from this moment on, open sockets included."
              variable={key.key_id === ENVIRONMENT_ID ? 'OBSERVATORY_AGENT_KEY' : null}
              confirmLabel="Revoke key"
              confirmTestId="agent-key-revoke"
            >
              <PrefixCell prefix={key.prefix} />
              <Td className="max-md:hidden">{key.created_by}</Td>
            </AccessRow>
          ))}
        </AccessTable>
      )}
    </Panel>
  );
}
