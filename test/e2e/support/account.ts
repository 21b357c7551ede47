/** The service account of pods that specify none. The API server admits no pod until it exists. */
import type { ApiServer } from '../../../testing/apiserver/apiServer.ts';
import { eventually } from './eventually.ts';

const ACCOUNT = '/api/v1/namespaces/default/serviceaccounts/default';

/** Waits until the default namespace of a new cluster has its service account. */
export async function accountIsThere(server: Pick<ApiServer, 'request'>): Promise<void> {
  await eventually('the account is there', () => server.request('GET', ACCOUNT).catch(() => undefined));
}
