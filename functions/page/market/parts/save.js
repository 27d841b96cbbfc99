// Files that visitors save.

/** Saves the text as a file of this name. */
export const save = (name, text) => {
  const url = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
};

/** Returns rows of values as CSV. */
export const csvOf = (rows) => {
  const field = (value) => (/[",\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);
  return rows.map((row) => `${row.map((value) => field(String(value ?? ""))).join(",")}\r\n`).join("");
};
