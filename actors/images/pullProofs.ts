/** Decides whether a pod may use an image that is present on the node, based on the records of its pulls. */

import { unlessAborted } from '../../base/async/unlessAborted.ts';
import { messageOf, NodeFailure } from '../../base/failure.ts';
import { lookUp } from '../../base/values/lookUp.ts';
import type { Cri } from '../../cri/client/calls.ts';
import {
  defaultVerification,
  type ImageVerification,
  needsProof,
  withoutTagAndDigest,
} from '../../kubernetes/images/imageVerification.ts';
import type { Credential } from '../../kubernetes/images/keyring.ts';
import {
  findProof,
  type PullCredentials,
  pullCredentialsOf,
  withPullCredentials,
} from '../../kubernetes/images/pulledRecord.ts';
import type { PullCheckResult } from '../serviceAction.ts';
import { PullRecords, type PullRecordsDependencies } from './pullRecords.ts';

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

interface PullProofDependencies extends Omit<PullRecordsDependencies, 'onError'> {
  readonly cri: Pick<Cri, 'listImages'>;
  readonly verification?: ImageVerification | undefined;
  readonly onError: (source: string, error: unknown) => void;
}

/** Checks the pull records below the root directory. The records are opened when the first image is checked. */
export class PullProofs {
  readonly #dependencies: PullProofDependencies;
  /** The number of running pulls of each image. */
  readonly #pullCounts = new Map<string, number>();
  #pendingRecords: Promise<PullRecords> | undefined;

  constructor(dependencies: PullProofDependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * Whether an image must be pulled again so that the registry decides whether the pod may use it. The pod's
   * credentials are only read if the decision depends on them.
   */
  async mustPull(
    imageCheck: ImageCheck,
    credentials: () => Promise<readonly Credential[]>,
    options: Abortable,
  ): Promise<boolean> {
    const { verification = defaultVerification } = this.#dependencies;
    const records = await this.#openRecords(options).catch((error: unknown) => {
      options.signal.throwIfAborted();
      this.#reportError(error);
    });
    const reportResult = (result: PullCheckResult) =>
      this.#dependencies.onServiceAction?.({ action: 'pullChecked', result });
    // Without records, treat the image as pulled by the node, so that the pod must prove its access.
    if (!records) {
      reportResult('error');
      return needsProof(imageCheck.image, true, verification);
    }
    const proveAccess = async (recorded: PullCredentials): Promise<boolean> => {
      const podCredentials = await credentials().catch((error: unknown) => {
        reportResult('error');
        throw error;
      });
      const matchingProof = findProof(recorded, podCredentials);
      if (matchingProof?.learned)
        await recordProof(records, imageCheck, matchingProof.learned).catch(this.#reportError);
      return matchingProof !== undefined;
    };
    const pullRecord = records.recordOf(imageCheck.imageRef);
    const wasPulledByNode = pullRecord !== undefined || records.hasIntent(imageCheck.image);
    if (!needsProof(imageCheck.image, wasPulledByNode, verification)) {
      reportResult('credentialPolicyAllowed');
      return false;
    }
    const recordedCredentials = pullRecord
      ? lookUp(pullRecord.credentialsByImage, withoutTagAndDigest(imageCheck.image))
      : undefined;
    const hasProvenAccess =
      recordedCredentials !== undefined &&
      (recordedCredentials.nodePodsAccessible || (await proveAccess(recordedCredentials)));
    reportResult(hasProvenAccess ? 'credentialRecordFound' : 'mustAuthenticate');
    return !hasProvenAccess;
  }

  /** Pulls an image with one of the pod's credentials, and records the credential. */
  async pull(image: string, pull: () => Promise<PulledImage>, options: Abortable): Promise<PulledImage> {
    const records = await this.#openRecords(options).catch((cause) =>
      Promise.reject(createRecordFailure(image, cause)),
    );
    this.#pullCounts.set(image, (this.#pullCounts.get(image) ?? 0) + 1);
    let hasIntentRecord = true;
    try {
      await records.putIntent(image).catch((cause) => Promise.reject(createRecordFailure(image, cause)));
      const pullResult = await pull();
      await recordProof(records, { image, ...pullResult }, pullCredentialsOf(pullResult.credential)).catch(
        (error: unknown) => {
          hasIntentRecord = false;
          this.#reportError(error);
        },
      );
      return pullResult;
    } finally {
      await this.#completePull(records, image, hasIntentRecord);
    }
  }

  /** Removes the record of an image that the runtime no longer has (`PruneUnknownRecords`). */
  async forget(imageRef: string, options: Abortable): Promise<void> {
    try {
      const records = await this.#openRecords(options);
      if (records.imageRefs.includes(imageRef)) await records.removeRecord(imageRef);
    } catch (error) {
      options.signal.throwIfAborted();
      this.#reportError(error);
    }
  }

  /**
   * Removes the pull intent. Retains it if the record of the completed pull could not be written, because the image
   * would otherwise be treated as preloaded.
   */
  async #completePull(records: PullRecords, image: string, isRecorded: boolean): Promise<void> {
    const remainingPulls = (this.#pullCounts.get(image) ?? 1) - 1;
    if (remainingPulls > 0) return void this.#pullCounts.set(image, remainingPulls);
    this.#pullCounts.delete(image);
    if (isRecorded) await records.removeIntent(image).catch(this.#reportError);
  }

  #openRecords({ signal }: Abortable): Promise<PullRecords> {
    this.#pendingRecords ??= openRecords(
      { ...this.#dependencies, onError: this.#reportError },
      this.#dependencies.cri,
    ).catch((error: unknown) => {
      this.#pendingRecords = undefined;
      throw error;
    });
    return unlessAborted(this.#pendingRecords, signal);
  }

  readonly #reportError = (error: unknown): void => this.#dependencies.onError('images', error);
}

async function recordProof(
  records: PullRecords,
  { image, imageRef }: ImageCheck,
  proof: PullCredentials,
): Promise<void> {
  const existing = records.recordOf(imageRef);
  const updatedRecord = withPullCredentials(
    existing ?? { imageRef, credentialsByImage: {} },
    withoutTagAndDigest(image),
    proof,
  );
  if (updatedRecord !== existing) await records.putRecord(updatedRecord);
}

const createRecordFailure = (image: string, cause: unknown): NodeFailure =>
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
async function openRecords(dependencies: PullRecordsDependencies, cri: Pick<Cri, 'listImages'>): Promise<PullRecords> {
  const records = await PullRecords.open(dependencies);
  if (records.intents.size === 0 && records.imageRefs.length === 0) return records;
  const { images } = await cri.listImages({ filter: undefined }, { signal: NEVER_ABORTED }).catch((error: unknown) => {
    dependencies.onError(error);
    return { images: [] };
  });
  for (const { id, repoTags, repoDigests } of images) {
    for (const image of [...repoTags, ...repoDigests].filter((name) => records.intents.has(name))) {
      // The runtime completed the interrupted pull, but with unknown credentials, so the record contains none.
      if (records.recordOf(id) === undefined) await records.putRecord({ imageRef: id, credentialsByImage: {} });
      await records.removeIntent(image);
    }
  }
  const presentImageIds = new Set(images.map(({ id }) => id));
  // Skip the cleanup if the runtime lists no images, because the runtime may not be ready yet. The next agent cleans
  // up.
  if (presentImageIds.size === 0) return records;
  for (const imageRef of records.imageRefs) {
    if (!presentImageIds.has(imageRef)) await records.removeRecord(imageRef).catch(dependencies.onError);
  }
  return records;
}

/** Signal for listing the images. Only the timeout of the call limits its duration. */
const NEVER_ABORTED = new AbortController().signal;
