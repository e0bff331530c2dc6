// Shows the API's description with Swagger UI, and each operation's examples in curl, Python and TypeScript.
"use strict";

const settings = JSON.parse(document.getElementById("swagger-settings").textContent);

// A plugin of Swagger UI: puts the examples before the responses of an operation.
function codeSamples(system) {
  const { createElement, useState } = system.React;

  function Samples({ samples }) {
    const [shown, show] = useState(0);
    const tabs = samples.map((sample, index) =>
      createElement(
        "button",
        {
          key: sample.label,
          type: "button",
          role: "tab",
          className: "code-samples__tab",
          "aria-selected": index === shown,
          onClick: () => show(index),
        },
        sample.label,
      ),
    );
    return createElement(
      "div",
      { className: "code-samples" },
      createElement("div", { className: "code-samples__tabs", role: "tablist", "aria-label": "Example in" }, tabs),
      createElement("pre", { className: "code-samples__code", tabIndex: 0 }, samples[shown].source),
    );
  }

  const withSamples = (Responses) => (props) => {
    const found = system.specSelectors.specJson().getIn(["paths", props.path, props.method, "x-codeSamples"]);
    const responses = createElement(Responses, props);
    return found ? createElement("div", null, createElement(Samples, { samples: found.toJS() }), responses) : responses;
  };
  return { wrapComponents: { responses: withSamples } };
}

SwaggerUIBundle({
  ...settings,
  dom_id: "#swagger-ui",
  presets: [SwaggerUIBundle.presets.apis],
  plugins: [codeSamples],
});
