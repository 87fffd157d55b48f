/** Who may come in: a form that makes one more, its secret shown once, and the list. Keys and operators alike. */
import { type QueryKey, useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import type { Page } from '#contracts';
import { api, useDenial } from '../../api';
import { Callout, Skeleton } from '../../ui';
import { OneTimeSecret } from './one-time-secret';

interface AccessSectionProps<Item> {
  queryKey: QueryKey;
  path: string;
  form: (onCreated: (secret: string) => void) => ReactNode;
  secretTitle: string;
  secretTestId: string;
  /** How to use the new secret. */
  secretHelp: (secret: string) => ReactNode;
  list: (items: readonly Item[]) => ReactNode;
}

export function AccessSection<Item>(props: AccessSectionProps<Item>) {
  const { queryKey, path, form, secretTitle, secretTestId, secretHelp, list } = props;
  const denial = useDenial('manage_access');
  const queryClient = useQueryClient();
  const [created, setCreated] = useState<string | null>(null);
  const { data, error } = useQuery({
    queryKey,
    queryFn: () => api.get<Page<Item>>(path),
    enabled: denial === null,
    staleTime: 0,
    refetchOnWindowFocus: true,
  });
  const onCreated = (secret: string) => {
    setCreated(secret);
    void queryClient.invalidateQueries({ queryKey });
  };
  if (denial) return <Callout>{denial}</Callout>;
  return (
    <div className="flex flex-col gap-4">
      {form(onCreated)}
      {created ? (
        <OneTimeSecret
          title={secretTitle}
          secret={created}
          testId={secretTestId}
          onDone={() => setCreated(null)}
        >
          {secretHelp(created)}
        </OneTimeSecret>
      ) : null}
      {error ? <Callout tone="danger">{error.message}</Callout> : null}
      {data ? list(data.items) : <Skeleton className="h-40 w-full" />}
    </div>
  );
}
