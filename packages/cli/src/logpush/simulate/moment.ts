/** What is so at the time of a simulated record. */
export interface Moment {
  /** The origin fails. */
  readonly incident: boolean;
}
