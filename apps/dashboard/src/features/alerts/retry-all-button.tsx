/** Sends every dead letter again, or those of one channel. Its effect arrives over the live topic, for everybody. */
import { RotateCcw } from 'lucide-react';
import { useState } from 'react';
import type { AlertChannel, DeadLettersRetried } from '#contracts';
import { api, useDenial } from '../../api';
import { Button, ConfirmDialog, plural } from '../../ui';
import { toast } from '../../ui/toast';

interface RetryAllButtonProps {
  /** Undefined: those of every channel. */
  channelId: string | undefined;
  /** Undefined: not read yet. */
  channels: readonly AlertChannel[] | undefined;
}

export function RetryAllButton({ channelId, channels }: RetryAllButtonProps) {
  const denial = useDenial('configure');
  const [isAsking, setIsAsking] = useState(false);
  const meant = channels?.filter(({ channel_id }) => channelId === undefined || channel_id === channelId);
  const goneReason = meant?.length === 0 ? 'Its channel was deleted: there is nobody left to tell.' : null;
  const retry = async () => {
    const body = { channel_id: channelId ?? null };
    const done = await api.post<DeadLettersRetried>('/v1/alert-deliveries/retry', body);
    toast({
      title: `${plural(done.retried_count, 'dead letter')} put back`,
      ...(done.has_more
        ? { description: 'There was no room for all: retry again when these are gone.' }
        : {}),
    });
  };
  return (
    <>
      <Button
        icon={<RotateCcw size={13} aria-hidden="true" />}
        disabledReason={denial ?? goneReason}
        onClick={() => setIsAsking(true)}
      >
        Retry all
      </Button>
      <ConfirmDialog
        open={isAsking}
        onOpenChange={setIsAsking}
        title={`Send every dead letter ${channelId === undefined ? '' : `to “${meant?.[0]?.name}” `}again?`}
        description="The oldest first, also those that are not listed yet. Whoever gets them hears of alerts that may be long over."
        confirmLabel="Retry all"
        confirmVariant="primary"
        onConfirm={retry}
      />
    </>
  );
}
