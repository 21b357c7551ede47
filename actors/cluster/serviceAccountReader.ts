import * as z from 'zod/mini';
import type { KubeClient } from '../../kubeclient/client.ts';
import { SERVICE_ACCOUNT_TYPE, serviceAccountPath } from '../../kubeclient/paths.ts';
import type { FindServiceAccount } from '../services/images/nodeCredentials.ts';

const serviceAccountSchema = z.object({
  metadata: z.object({
    uid: z.string(),
    annotations: z._default(z.nullable(z.record(z.string(), z.string())), null),
  }),
});

/** Returns a function that reads a service account without caching it, because callers need its current state. */
export const createServiceAccountReader =
  (client: Pick<KubeClient, 'get'>): FindServiceAccount =>
  async (account, options) => {
    const path = serviceAccountPath(account);
    const { metadata } = z.parse(
      serviceAccountSchema,
      await client.get(path, { ...options, type: SERVICE_ACCOUNT_TYPE }),
    );
    return { uid: metadata.uid, annotations: metadata.annotations ?? {} };
  };
