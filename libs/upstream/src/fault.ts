/** What went wrong with an answer, before anybody decided what it means for the caller. */
export type Fault =
  /** The provider said no: by status, or inside a 200. */
  | { readonly kind: 'refused'; readonly inBand: boolean; readonly body: Buffer }
  /** The body ended or broke before the answer was whole. */
  | { readonly kind: 'cut'; readonly cause?: unknown }
  /** A success without any content. */
  | { readonly kind: 'empty' }
  /** A page for people where an answer should be. */
  | { readonly kind: 'html' }
  /** A success that is no JSON. */
  | { readonly kind: 'garbled' }
  /** A plain answer above the bound. */
  | { readonly kind: 'oversized' };
