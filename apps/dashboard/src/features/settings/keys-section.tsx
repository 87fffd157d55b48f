/** Agent keys: what agents send their DecisionLogs with, and their LLM calls through the proxy. */
import { useState } from 'react';
import { type AgentKey, ENVIRONMENT_ID, HEADERS } from '#contracts';
import { type FieldProblems, useMe } from '../../api';
import { CodeBlock, EmptyState, Field, Input, Panel, Td, Th, withUnseen } from '../../ui';
import { proxyBaseUrls } from '../onboarding/proxy-snippets';
import { snippet } from '../onboarding/snippets';
import { AccessSection } from './access-section';
import { AccessRow, AccessTable, PhoneLine, PrefixCell } from './access-table';
import { CreateAccess } from './create-access';

const QUERY_KEY = ['agent-keys'];

export function KeysSection() {
  const [agentId, setAgentId] = useState<string>();
  return (
    <AccessSection<AgentKey>
      queryKey={QUERY_KEY}
      path="/v1/agent-keys"
      form={(onCreated) => (
        <CreateKey
          onCreated={(secret, firstAgentId) => {
            setAgentId(firstAgentId);
            onCreated(secret);
          }}
        />
      )}
      secretTitle="Your new agent key"
      secretTestId="agent-key-secret"
      secretHelp={(secret) => <TryIt secret={secret} agentId={agentId} />}
      list={(keys) => <KeyTable keys={keys} />}
    />
  );
}

interface CreateKeyProps {
  /** @param agentId the first of those that it is bound to */
  onCreated: (secret: string, agentId: string | undefined) => void;
}

function CreateKey({ onCreated }: CreateKeyProps) {
  const me = useMe();
  const [tenants, setTenants] = useState('');
  const [agents, setAgents] = useState('');
  const tenant_ids = tenants.split(/[\s,]+/).filter(Boolean);
  // Their ids may have spaces.
  const agent_ids = agents
    .split(/[,\n]/)
    .map((id) => id.trim())
    .filter(Boolean);
  const mayNameOthers = me?.tenant_ids.some((tenant) => tenant !== me.tenant_id);
  return (
    <CreateAccess
      onCreated={(secret) => {
        setTenants('');
        setAgents('');
        onCreated(secret, agent_ids[0]);
      }}
      title="New agent key"
      path="/v1/agent-keys"
      body={{ ...(tenant_ids.length > 0 && { tenant_ids }), ...(agent_ids.length > 0 && { agent_ids }) }}
      nameHint="Which agents will use it, such as “research fleet”."
      nameMissing="Give the key a name, so that you know later whose it is."
      submitLabel="Create key"
      testId="agent-key-create"
    >
      {(problems) => (
        <>
          <ListField
            label="Only for agents"
            hint="Their ids, with commas between. Then nobody who has the key can call under another name. Empty: for any."
            placeholder="any"
            value={agents}
            problem={problemIn('agent_ids', problems)}
            onChange={setAgents}
          />
          {mayNameOthers ? (
            <ListField
              label="Further tenants"
              hint={`With commas between; its calls say for which in X-Tenant-Id. Empty: for ${me?.tenant_id} alone.`}
              placeholder="none"
              value={tenants}
              problem={problemIn('tenant_ids', problems)}
              onChange={setTenants}
            />
          ) : null}
        </>
      )}
    </CreateAccess>
  );
}

/** Of a list, or of one of its members: `agent_ids.1`. */
const problemIn = (field: string, problems: FieldProblems): string | undefined =>
  Object.entries(problems).find(([path]) => path.split('.')[0] === field)?.[1];

interface ListFieldProps {
  label: string;
  hint: string;
  placeholder: string;
  value: string;
  problem: string | undefined;
  onChange: (value: string) => void;
}

function ListField({ label, hint, placeholder, value, problem, onChange }: ListFieldProps) {
  return (
    <div className="w-56 max-md:w-full">
      <Field label={label} hint={hint} error={problem}>
        <Input
          value={value}
          autoCapitalize="none"
          spellCheck={false}
          placeholder={placeholder}
          onChange={(event) => onChange(event.target.value)}
        />
      </Field>
    </div>
  );
}

function TryIt({ secret, agentId }: { secret: string; agentId: string | undefined }) {
  const [stamp] = useState(() => ({
    suffix: Math.random().toString(36).slice(2, 6),
    timestamp: new Date().toISOString(),
  }));
  const ingestUrl = `${window.location.origin}/v1/decision-logs`;
  return (
    <div className="flex flex-col gap-2 text-xs">
      <p>A first DecisionLog:</p>
      <CodeBlock
        code={snippet('curl', { ingestUrl, agentKey: secret, agentId, ...stamp })}
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

/** What the key is good for. */
const Reach = ({ of }: { of: string }) => (
  <span className="line-clamp-3 whitespace-normal font-normal text-muted text-xs" title={of}>
    {of}
  </span>
);

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
                  {key.agent_ids ? <Reach of={`as ${key.agent_ids.map(withUnseen).join(', ')}`} /> : null}
                  {key.tenant_ids ? <Reach of={`for ${key.tenant_ids.join(', ')}`} /> : null}
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
