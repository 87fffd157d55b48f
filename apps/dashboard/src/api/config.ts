/** The settings in force, as Settings edits them and as a pause's end depends on them. */
import type { RuntimeConfigAnswer } from '#contracts';
import { api } from './client';

/** Asked for anew wherever it is shown, and whenever one comes back to it: another operator, or tab, may have changed it. */
export const configQuery = {
  queryKey: ['config'],
  queryFn: () => api.get<RuntimeConfigAnswer>('/v1/config'),
  staleTime: 0,
  refetchOnWindowFocus: true,
};
