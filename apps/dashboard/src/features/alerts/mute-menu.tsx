/** Silences a rule for a while: an hour, a shift, or until a time of one's own. */
import { BellOff } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import type { AlertRule } from '#contracts';
import { HOUR_MS } from '#kernel/duration';
import { gatewayNowMs } from '../../api';
import { Badge, Button, Dialog, Field, formatExact, formatUntil, Input, useNow } from '../../ui';
import { Menu } from '../../ui/menu';

const isMutedAt = (rule: Pick<AlertRule, 'muted_until_ms'>, nowMs: number): boolean =>
  (rule.muted_until_ms ?? 0) > nowMs;

interface MuteMenuProps {
  rule: AlertRule;
  denial: string | null;
  /** Null unmutes. */
  onMute: (untilMs: number | null) => void;
}

export function MuteMenu({ rule, denial, onMute }: MuteMenuProps) {
  const [isChoosing, setIsChoosing] = useState(false);
  const isMuted = useNow((nowMs) => isMutedAt(rule, nowMs));
  const icon = <BellOff size={13} aria-hidden="true" />;
  const label = isMuted ? `Muted ${rule.name}: change it` : `Mute ${rule.name}`;
  if (denial) {
    return (
      <Button size="sm" icon={icon} disabledReason={denial} aria-label={label} className="w-20">
        Mute
      </Button>
    );
  }
  return (
    <>
      <Menu
        trigger={
          <Button size="sm" icon={icon} aria-label={label} className="w-20">
            {isMuted ? 'Muted' : 'Mute'}
          </Button>
        }
        items={[
          { label: 'For 1 hour', onSelect: () => onMute(gatewayNowMs() + HOUR_MS) },
          { label: 'For 8 hours', onSelect: () => onMute(gatewayNowMs() + 8 * HOUR_MS) },
          { label: 'Until…', onSelect: () => setIsChoosing(true) },
          ...(isMuted ? [{ label: 'Unmute now', onSelect: () => onMute(null) }] : []),
        ]}
      />
      {isChoosing ? (
        <UntilDialog
          name={rule.name}
          onClose={() => setIsChoosing(false)}
          onMute={(untilMs) => {
            setIsChoosing(false);
            onMute(untilMs);
          }}
        />
      ) : null}
    </>
  );
}

export function MuteNote({ rule }: { rule: AlertRule }) {
  const isMuted = useNow((nowMs) => isMutedAt(rule, nowMs));
  if (!isMuted || rule.muted_until_ms === null) return null;
  return (
    <Badge icon={<BellOff size={11} aria-hidden="true" />} title={formatExact(rule.muted_until_ms)}>
      Muted until {formatUntil(rule.muted_until_ms)}
    </Badge>
  );
}

interface UntilDialogProps {
  name: string;
  onClose: () => void;
  onMute: (untilMs: number) => void;
}

/** "2026-01-31T08:00", as the field wants it: on the local clock. */
const localText = (atMs: number): string =>
  new Date(atMs - new Date(atMs).getTimezoneOffset() * 60_000).toISOString().slice(0, 16);

function UntilDialog({ name, onClose, onMute }: UntilDialogProps) {
  const [text, setText] = useState(() => localText(gatewayNowMs() + 24 * HOUR_MS));
  const [error, setError] = useState<string | undefined>();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const untilMs = new Date(text).getTime();
    if (Number.isNaN(untilMs) || untilMs <= gatewayNowMs()) setError('Choose a time that is still to come.');
    else onMute(untilMs);
  };
  return (
    <Dialog open onOpenChange={(open) => open || onClose()} title={`Mute “${name}”`}>
      <form onSubmit={submit} noValidate className="flex flex-col gap-3">
        <Field
          label="Until"
          hint="On the clock of this computer. The end of what was told before is still told."
          error={error}
        >
          <Input
            type="datetime-local"
            value={text}
            onChange={(event) => {
              setText(event.target.value);
              setError(undefined);
            }}
          />
        </Field>
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary">
            Mute
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
