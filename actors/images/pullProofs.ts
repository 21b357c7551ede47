/** Decides whether a pod may use an image that is present on the node, based on the records of its pulls. */

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
  /** The image's name in the pod's spec. */
  readonly image: string;
  /** The runtime's reference to the image. */
  readonly imageRef: string;
}

interface PulledImage {
  readonly imageRef: string;
  /** The credential used for the pull. Undefined for an anonymous pull. */
  readonly credential: Credential | undefined;
}

interface ProofParts extends Omit<PullRecordsParts, 'onError'> {
  readonly cri: Pick<Cri, 'listImages'>;
  readonly verification?: ImageVerification | undefined;
  readonly onError: (source: string, error: unknown) => void;
}

/** Checks the pull records below the root directory, which are opened for the first image. */
export class PullProofs {
  readonly #parts: ProofParts;
  /** The number of running pulls of each image. */
  readonly #pullCounts = new Map<string, number>();
  #opening: Promise<PullRecords> | undefined;

  constructor(parts: ProofParts) {
    this.#parts = parts;
  }

  /**
   * Whether an image must be pulled again so that the registry decides whether the pod may use it. The pod's
   * credentials are only read if the decision depends on them.
   */
  async mustPull(
    check: ImageCheck,
    credentials: () => Promise<readonly Credential[]>,
    options: Abortable,
  ): Promise<boolean> {
    const { verification = defaultVerification } = this.#parts;
    const records = await this.#open(options).catch((error: unknown) => {
      options.signal.throwIfAborted();
      this.#reportError(error);
    });
    const report = (result: PullCheckResult) => this.#parts.serviceActions?.({ action: 'pullChecked', result });
    // Without records no access is proven.
    if (!records) {
      report('error');
      return needsProof(check.image, true, verification);
    }
    const prove = async (recorded: PullCredentials): Promise<boolean> => {
      const podCredentials = await credentials().catch((error: unknown) => {
        report('error');
        throw error;
      });
      const proof = findProof(recorded, podCredentials);
      if (proof?.learned) await recordProof(records, check, proof.learned).catch(this.#reportError);
      return proof !== undefined;
    };
    const record = records.recordOf(check.imageRef);
    const wasPulledByNode = record !== undefined || records.hasIntent(check.image);
    if (!needsProof(check.image, wasPulledByNode, verification)) {
      report('credentialPolicyAllowed');
      return false;
    }
    const recorded = record ? lookUp(record.pulledWith, withoutTagAndDigest(check.image)) : undefined;
    const isProven = recorded !== undefined && (recorded.nodePodsAccessible || (await prove(recorded)));
    report(isProven ? 'credentialRecordFound' : 'mustAuthenticate');
    return !isProven;
  }

  /** Pulls an image with one of the pod's credentials, and records the credential. */
  async pull(image: string, pull: () => Promise<PulledImage>, options: Abortable): Promise<PulledImage> {
    const records = await this.#open(options).catch((cause) => Promise.reject(notRecorded(image, cause)));
    this.#pullCounts.set(image, (this.#pullCounts.get(image) ?? 0) + 1);
    let isRecorded = true;
    try {
      await records.putIntent(image).catch((cause) => Promise.reject(notRecorded(image, cause)));
      const pulled = await pull();
      await recordProof(records, { image, ...pulled }, pullCredentialsOf(pulled.credential)).catch((error: unknown) => {
        isRecorded = false;
        this.#reportError(error);
      });
      return pulled;
    } finally {
      await this.#completePull(records, image, isRecorded);
    }
  }

  /**
   * Removes the intent of a pull. If the pull record could not be written, the intent is retained, because no access to
   * the image is proven.
   */
  async #completePull(records: PullRecords, image: string, isRecorded: boolean): Promise<void> {
    const remaining = (this.#pullCounts.get(image) ?? 1) - 1;
    if (remaining > 0) return void this.#pullCounts.set(image, remaining);
    this.#pullCounts.delete(image);
    if (isRecorded) await records.removeIntent(image).catch(this.#reportError);
  }

  #open({ signal }: Abortable): Promise<PullRecords> {
    this.#opening ??= openRecords({ ...this.#parts, onError: this.#reportError }, this.#parts.cri).catch(
      (error: unknown) => {
        this.#opening = undefined;
        throw error;
      },
    );
    return unlessAborted(this.#opening, signal);
  }

  readonly #reportError = (error: unknown): void => this.#parts.onError('images', error);
}

async function recordProof(
  records: PullRecords,
  { image, imageRef }: ImageCheck,
  proof: PullCredentials,
): Promise<void> {
  const existing = records.recordOf(imageRef);
  const updated = withProof(existing ?? { imageRef, pulledWith: {} }, withoutTagAndDigest(image), proof);
  if (updated !== existing) await records.putRecord(updated);
}

const notRecorded = (image: string, cause: unknown): NodeFailure =>
  new NodeFailure(
    'ErrImagePull',
    `Failed to record image pull intent for container image "${image}": ${messageOf(cause)}`,
    {
      cause,
    },
  );

/**
 * Opens the records and cleans up after an earlier run, which may have left interrupted pulls and records of removed
 * images.
 */
async function openRecords(parts: PullRecordsParts, cri: Pick<Cri, 'listImages'>): Promise<PullRecords> {
  const records = await PullRecords.open(parts);
  if (records.intents.size === 0 && records.imageRefs.length === 0) return records;
  const { images } = await cri.listImages({ filter: undefined }, { signal: NEVER }).catch((error: unknown) => {
    parts.onError(error);
    return { images: [] };
  });
  for (const { id, repoTags, repoDigests } of images) {
    for (const image of [...repoTags, ...repoDigests].filter((name) => records.intents.has(name))) {
      // The pull is complete, but the credentials used are unknown.
      if (records.recordOf(id) === undefined) await records.putRecord({ imageRef: id, pulledWith: {} });
      await records.removeIntent(image);
    }
  }
  const present = new Set(images.map(({ id }) => id));
  // A runtime without images may not be ready yet. The next agent cleans up.
  if (present.size === 0) return records;
  for (const imageRef of records.imageRefs) {
    if (!present.has(imageRef)) await records.removeRecord(imageRef).catch(parts.onError);
  }
  return records;
}

/** Never aborts, because the call has its own timeout. */
const NEVER = new AbortController().signal;
