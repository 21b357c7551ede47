/** Asks an API server for a certificate (`RequestCertificate` in `util/certificate/csr/csr.go` of client-go). */
import { createPublicKey } from 'node:crypto';
import { NodeFailure } from '../../../base/failure.ts';
import type { CallOptions, KubeClient } from '../../../kubeclient/client.ts';
import { isConflict } from '../../../kubeclient/kubeError.ts';
import { CERTIFICATE_SIGNING_REQUEST } from '../../../kubeclient/paths.ts';
import { type NamedObject, readNamed } from '../nodeObjects.ts';
import { SIGNING_REQUESTS } from './awaitSigned.ts';
import type { RequestKey } from './requestKey.ts';
import type { Wanted } from './signingRequest.ts';

interface Asked {
  readonly client: KubeClient;
  readonly wanted: Wanted;
  readonly signerName: string;
  readonly usages: readonly string[];
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** The request as the API server has it, and its key in PEM, which is a secret. */
interface Requested {
  readonly found: NamedObject;
  readonly key: string;
}

/** By a new key, and a name that the API server gives. */
export async function askOnce({ client, wanted, signerName, usages }: Asked, options: CallOptions): Promise<Requested> {
  const { newSigningRequest } = await import('./signingRequest.ts');
  const { request, key } = newSigningRequest(wanted);
  const spec = { signerName, usages, request: inBase64(request) };
  return { found: await create(client, { generateName: 'csr-' }, spec, options), key };
}

interface NamedOptions extends CallOptions {
  /** Hears of a file that should have the key. */
  readonly onOther: (failure: NodeFailure) => void;
}

/**
 * By the key that is kept and the name that comes of it: what an agent has asked for before, and whatever became of it, is
 * taken up. Where somebody has made something else of that name the key is given up, and the next call is by another; a
 * kubelet tries the same again until that is gone.
 */
export async function askByName(
  asked: Asked,
  kept: RequestKey,
  { onOther, ...options }: NamedOptions,
): Promise<Requested> {
  const { client, wanted, signerName, now } = asked;
  const privateKey = await kept.take(onOther);
  const usages = [...asked.usages, ...(privateKey.asymmetricKeyType === 'rsa' ? ['key encipherment'] : [])];
  const [{ newSigningRequest }, { digestedName, whyOther }] = await Promise.all([
    import('./signingRequest.ts'),
    import('./namedRequest.ts'),
  ]);
  const { request, key } = newSigningRequest(wanted, privateKey);
  const named = { wanted, signerName, usages, publicKey: createPublicKey(privateKey) };
  const name = digestedName(named);
  try {
    return { found: await create(client, { name }, { signerName, usages, request: inBase64(request) }, options), key };
  } catch (error) {
    if (!isConflict(error)) throw error;
  }
  const path = `${SIGNING_REQUESTS}/${name}`;
  const found = await client.get(path, { ...options, type: CERTIFICATE_SIGNING_REQUEST });
  const why = whyOther(named, found, now());
  if (why === undefined) return { found: readNamed(found, `GET ${path}`), key };
  await kept.forget();
  throw new NodeFailure('CertificateNotIssued', `certificate request ${name} is there already, and is another: ${why}`);
}

async function create(client: KubeClient, metadata: object, spec: object, options: CallOptions): Promise<NamedObject> {
  const object = { ...CERTIFICATE_SIGNING_REQUEST, metadata, spec };
  return readNamed(await client.create(SIGNING_REQUESTS, object, options), `POST ${SIGNING_REQUESTS}`);
}

const inBase64 = (text: string): string => Buffer.from(text).toString('base64');
