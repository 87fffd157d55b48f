/** An opened step: reasoning, tool input and output, ids, and the raw message. */
import type { ReactNode } from 'react';
import type { StepView } from '#contracts';
import { CodeBlock, Fact, formatUsd, Identifier, withUnseen } from '../../ui';
import { editableInput } from '../hitl-console/tool-input';

export function StepBody({ step }: { step: StepView }) {
  const { action, cognition, meta, identity, state_delta, gateway } = step;
  const input = editableInput(step);
  const reasoning = cognition.reasoning_chain ?? [];
  return (
    <div className="flex flex-col gap-3 border-line border-t bg-sunken/50 px-3 py-3 pl-9 max-md:pl-3">
      {reasoning.length > 0 ? (
        <Part title="Reasoning">
          <ol className="list-decimal pl-4 text-muted">
            {reasoning.map((thought, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: an immutable list.
              <li key={index} className="break-words">
                {thought}
              </li>
            ))}
          </ol>
        </Part>
      ) : null}
      {input ? (
        <Part title="Tool input">
          <CodeBlock code={input} label="tool input" />
        </Part>
      ) : null}
      {action.tool_output_summary ? (
        <Part title="Tool output">
          <CodeBlock code={action.tool_output_summary} label="tool output" />
        </Part>
      ) : null}
      <dl className="grid grid-cols-[max-content_1fr] items-center gap-x-4 gap-y-1.5 text-xs">
        <Fact name="Trace">
          <Identifier id={meta.trace_id} charsMax={44} kind="trace id" />
        </Fact>
        {meta.parent_step_id ? (
          <Fact name="Caused by">
            <Identifier id={meta.parent_step_id} charsMax={44} kind="parent step id" />
          </Fact>
        ) : null}
        <Fact name="Agent">
          {withUnseen(identity.agent_id)} ({identity.agent_type} {identity.capability_version})
          {identity.model_name ? `, ${identity.model_name}` : ''}
        </Fact>
        <Fact name="Agent's clock">{meta.timestamp}</Fact>
        <Fact name="Received">{new Date(gateway.received_at_ms).toISOString()}</Fact>
        {cognition.strategy_used ? <Fact name="Strategy">{cognition.strategy_used}</Fact> : null}
        {typeof cognition.confidence_score === 'number' ? (
          <Fact name="Confidence">{cognition.confidence_score}</Fact>
        ) : null}
        {typeof state_delta?.tokens_consumed === 'number' ? (
          <Fact name="Tokens">{state_delta.tokens_consumed}</Fact>
        ) : null}
        {typeof state_delta?.cumulative_session_cost === 'number' ? (
          <Fact name="Cost so far">{formatUsd(state_delta.cumulative_session_cost)}</Fact>
        ) : null}
        {gateway.rewritten_by ? <Fact name="Rewritten by">{gateway.rewritten_by}</Fact> : null}
      </dl>
      <details className="text-xs">
        <summary className="text-accent">Whole message</summary>
        <CodeBlock code={JSON.stringify(step, null, 2)} label="message" className="mt-2" />
      </details>
    </div>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className="flex flex-col gap-1">
      <p className="font-medium text-muted text-xs">{title}</p>
      {children}
    </div>
  );
}
