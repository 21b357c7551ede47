/** Whether a pod may use an image that is on the node, by what the node has written down of its pulls. */

import { messageOf, NodeFailure } from '../../base/failure.ts';
import { lookUp } from '../../base/lookUp.ts';
import { unlessAborted } from '../../base/unlessAborted.ts';
import type { Cri } from '../../cri/client/calls.ts';
import {
  defaultVerification,
  type ImageVerification,
  needsProof,
  withoutTagAndDigest,
} from '../../kubernetes/images/imageVerification.ts';
import type { Credential } from '../../kubernetes/images/keyring.ts';
import { findProof, type PullCredentials, pullCredentialsOf, withProof } from '../../kubernetes/images/pulledRecord.ts';
import type { PullCheckResult } from '../serviceAction.ts';
import { PullRecords, type PullRecordsParts } from './pullRecords.ts';

interface Abortable {
  readonly signal: AbortSignal;
}

interface ImageCheck {
  /** As the spec names it. */
  readonly image: string;
  /** As the runtime knows it. */
  readonly imageRef: string;
}

interface PulledImage {
  readonly imageRef: string;
  /** What it was pulled with; absent: nothing. */
  readonly credential: Credential | undefined;
}

interface ProofParts extends Omit<PullRecordsParts, 'onError'> {
  readonly cri: Pick<Cri, 'listImages'>;
  readonly verification?: ImageVerification | undefined;
  readonly onError: (source: string, error: unknown) => void;
}

/** Over the records below the root directory, which are opened when the first image is asked for. */
export class PullProofs {
  readonly #parts: ProofParts;
  /** How many pulls of each image there are. */
  readonly #underWay = new Map<string, number>();
  #opening: Promise<PullRecords> | undefined;

  constructor(parts: ProofParts) {
    this.#parts = parts;
  }

  /**
   * Whether an image has to be pulled once more, for the registry to say whether the pod may have it. The pod's
   * credentials are asked for only where it depends on them.
   */
  async mustPull(
    found: ImageCheck,
    credentials: () => Promise<readonly Credential[]>,
    options: Abortable,
  ): Promise<boolean> {
    const { verification = defaultVerification } = this.#parts;
    const records = await this.#opened(options).catch((error: unknown) => {
      options.signal.throwIfAborted();
      this.#tell(error);
    });
    const report = (result: PullCheckResult) => this.#parts.serviceActions?.({ action: 'pullChecked', result });
    // What is not known is not proven.
    if (!records) {
      report('error');
      return needsProof(found.image, true, verification);
    }
    const prove = async (known: PullCredentials): Promise<boolean> => {
      const pulling = await credentials().catch((error: unknown) => {
        report('error');
        throw error;
      });
      const proven = findProof(known, pulling);
      if (proven?.learned) await learn(records, found, proven.learned).catch(this.#tell);
      return proven !== undefined;
    };
    const record = records.recordOf(found.imageRef);
    const isOfNode = record !== undefined || records.hasIntent(found.image);
    if (!needsProof(found.image, isOfNode, verification)) {
      report('credentialPolicyAllowed');
      return false;
    }
    const known = record ? lookUp(record.pulledWith, withoutTagAndDigest(found.image)) : undefined;
    const isProven = known !== undefined && (known.nodePodsAccessible || (await prove(known)));
    report(isProven ? 'credentialRecordFound' : 'mustAuthenticate');
    return !isProven;
  }

  /** Pulls it with one of the pod's credentials, and writes down which. */
  async pull(image: string, pull: () => Promise<PulledImage>, options: Abortable): Promise<PulledImage> {
    const records = await this.#opened(options).catch((cause) => Promise.reject(notRecorded(image, cause)));
    this.#underWay.set(image, (this.#underWay.get(image) ?? 0) + 1);
    let isRecorded = true;
    try {
      await records.putIntent(image).catch((cause) => Promise.reject(notRecorded(image, cause)));
      const pulled = await pull();
      await learn(records, { image, ...pulled }, pullCredentialsOf(pulled.credential)).catch((error: unknown) => {
        isRecorded = false;
        this.#tell(error);
      });
      return pulled;
    } finally {
      await this.#end(records, image, isRecorded);
    }
  }

  /** An intent whose record is missing stays: nobody has proved a right to that image then. */
  async #end(records: PullRecords, image: string, isRecorded: boolean): Promise<void> {
    const left = (this.#underWay.get(image) ?? 1) - 1;
    if (left > 0) return void this.#underWay.set(image, left);
    this.#underWay.delete(image);
    if (isRecorded) await records.removeIntent(image).catch(this.#tell);
  }

  #opened({ signal }: Abortable): Promise<PullRecords> {
    this.#opening ??= openedRecords({ ...this.#parts, onError: this.#tell }, this.#parts.cri).catch(
      (error: unknown) => {
        this.#opening = undefined;
        throw error;
      },
    );
    return unlessAborted(this.#opening, signal);
  }

  readonly #tell = (error: unknown): void => this.#parts.onError('images', error);
}

async function learn(records: PullRecords, { image, imageRef }: ImageCheck, proved: PullCredentials): Promise<void> {
  const known = records.recordOf(imageRef);
  const after = withProof(known ?? { imageRef, pulledWith: {} }, withoutTagAndDigest(image), proved);
  if (after !== known) await records.putRecord(after);
}

const notRecorded = (image: string, cause: unknown): NodeFailure =>
  new NodeFailure(
    'ErrImagePull',
    `Failed to record image pull intent for container image "${image}": ${messageOf(cause)}`,
    {
      cause,
    },
  );

/** What a former run has left: pulls that were cut off, and records of images that are gone. */
async function openedRecords(parts: PullRecordsParts, cri: Pick<Cri, 'listImages'>): Promise<PullRecords> {
  const records = await PullRecords.open(parts);
  if (records.intents.size === 0 && records.imageRefs.length === 0) return records;
  const { images } = await cri.listImages({ filter: undefined }, { signal: NEVER }).catch((error: unknown) => {
    parts.onError(error);
    return { images: [] };
  });
  for (const { id, repoTags, repoDigests } of images) {
    for (const image of [...repoTags, ...repoDigests].filter((name) => records.intents.has(name))) {
      // It has come whole, nobody knows with whose credentials.
      if (records.recordOf(id) === undefined) await records.putRecord({ imageRef: id, pulledWith: {} });
      await records.removeIntent(image);
    }
  }
  const present = new Set(images.map(({ id }) => id));
  // A runtime that has nothing yet is asked again by the next agent.
  if (present.size === 0) return records;
  for (const imageRef of records.imageRefs) {
    if (!present.has(imageRef)) await records.removeRecord(imageRef).catch(parts.onError);
  }
  return records;
}

/** The call has its own time limit. */
const NEVER = new AbortController().signal;
