/** The service account of the pods that name none: no pod is admitted before it is there. */
import type { ApiServer } from '../../../testing/apiserver/apiServer.ts';
import { eventually } from './eventually.ts';

const ACCOUNT = '/api/v1/namespaces/default/serviceaccounts/default';

/** Waits until a new cluster has it in its default namespace. */
export async function accountIsThere(server: Pick<ApiServer, 'request'>): Promise<void> {
  await eventually('the account is there', () => server.request('GET', ACCOUNT).catch(() => undefined));
}
