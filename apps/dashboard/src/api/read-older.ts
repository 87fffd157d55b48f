interface OlderPages {
  isRefetching: boolean;
  refetch: (options: { cancelRefetch: boolean }) => Promise<unknown>;
  fetchNextPage: (options: { cancelRefetch: boolean }) => Promise<unknown>;
}

/**
 * The next page of a list, behind a reading anew that is under way: broken off for an older page, that would leave the top of the
 * list as it was, or the gap that it was to close. Never rejects.
 */
export async function readOlder({ isRefetching, refetch, fetchNextPage }: OlderPages): Promise<void> {
  if (isRefetching) await refetch({ cancelRefetch: false });
  await fetchNextPage({ cancelRefetch: false });
}
