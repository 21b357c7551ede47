/** The last thing wanted of one durable fact, and everybody who waits for it. */
export interface FactChange {
  readonly kind: string;
  readonly key: string;
  /** Absent: the fact is to be deleted. */
  readonly value?: unknown;
  /** Of two changes the later one has the higher. */
  readonly version: number;
  readonly waiting: { resolve: () => void; reject: (error: unknown) => void }[];
}

export const idOf = ({ kind, key }: Pick<FactChange, 'kind' | 'key'>): string => `${kind}/${key}`;
