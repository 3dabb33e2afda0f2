// Log in, then show the live page.
const form = document.getElementById("login");
form.onsubmit = async (event) => {
  event.preventDefault();
  const wrong = document.getElementById("wrong");
  wrong.textContent = "";
  try {
    const answer = await fetch("admin/login", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ password: form.elements.password.value }),
    });
    if (answer.ok) location.reload();
    else wrong.textContent = (await answer.json().catch(() => ({}))).error || "The server did not answer.";
  } catch { wrong.textContent = "The server cannot be reached."; }
};
