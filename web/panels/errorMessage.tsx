interface TroubleProps {
  readonly what: string;
  readonly cause: string;
  readonly again: () => void;
}

/** An error message that replaces the content of a panel. */
export const ErrorMessage = ({ what, cause, again }: TroubleProps) => (
  <div class="sec trouble" role="alert">
    <p>
      <b class="c-failed">{what}</b>: {cause}
    </p>
    <button type="button" class="btn" onClick={again}>
      Try again
    </button>
  </div>
);
