/** Remembers which of the runtime's objects are being stopped: what becomes of them the stop's own answer tells. */
export function stoppedByUs() {
  const stopping = new Set<string>();
  const stops =
    <Input, Options, Answer>(
      idsOf: (input: Input) => readonly string[],
      service: (input: Input, options: Options) => Promise<Answer>,
    ) =>
    async (input: Input, options: Options): Promise<Answer> => {
      const ids = idsOf(input);
      for (const id of ids) stopping.add(id);
      try {
        return await service(input, options);
      } finally {
        for (const id of ids) stopping.delete(id);
      }
    };
  return { stops, isBeingStopped: (id: string): boolean => stopping.has(id) };
}
