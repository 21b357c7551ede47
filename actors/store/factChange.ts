/** The last requested change of a durable fact, with the callers that wait for it. */
export interface FactChange {
  readonly kind: string;
  readonly key: string;
  /** The new value. If missing, the fact is deleted. */
  readonly value?: unknown;
  /** Increases with every change of any fact. */
  readonly version: number;
  readonly waitingCallers: { resolve: () => void; reject: (error: unknown) => void }[];
}

export const changeId = ({ kind, key }: Pick<FactChange, 'kind' | 'key'>): string => `${kind}/${key}`;
