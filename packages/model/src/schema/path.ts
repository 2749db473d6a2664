/** Where a value stands in a document: mapping keys and list indexes from the root. */
export type Path = readonly (string | number)[];
